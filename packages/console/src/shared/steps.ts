import { useInfiniteQuery } from '@tanstack/react-query'
import { type Records, recordsOf } from './records.ts'

interface Step<T, N> {
  data: T[]
  meta: { next?: N }
}

/** Loads a list without a total. Each page says at which number or id the next page starts. */
export function useSteps<T, N extends number | string = number>(
  queryKey: unknown[],
  read: (next: N | undefined) => Promise<Step<T, N>>,
  refetchInterval: number | false = false,
): Records<T> {
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam as N | undefined),
    initialPageParam: undefined as N | undefined,
    getNextPageParam: ({ meta }) => meta.next,
    refetchInterval,
  })
  return { ...recordsOf(list), total: undefined }
}
