import { useInfiniteQuery } from '@tanstack/react-query'
import type { Records } from './records.ts'

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
  return {
    rows: list.data?.pages.flatMap(({ data }) => data) ?? [],
    total: undefined,
    more: list.hasNextPage,
    isPending: list.isPending,
    isReading: list.isFetchingNextPage,
    error: list.error,
    readMore: () => {
      if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage()
    },
    retry: list.refetch,
  }
}
