import { useInfiniteQuery } from '@tanstack/react-query'
import { type Records, recordsOf } from './records.ts'

interface Step<T> {
  data: T[]
  meta: { next?: number }
}

/** Loads a list without a total. Each page says at which number the next page starts. */
export function useSteps<T>(
  queryKey: unknown[],
  read: (next: number | undefined) => Promise<Step<T>>,
  refetchInterval: number | false = false,
): Records<T> {
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ meta }) => meta.next,
    refetchInterval,
  })
  return { ...recordsOf(list), total: undefined }
}
