import { useInfiniteQuery } from '@tanstack/react-query'
import { type Records, recordsOf } from './records.ts'

interface Step<T> {
  data: T[]
  meta: { next?: number }
}

/** Reads a list that has no total: each page says the number at which the next one begins. */
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
