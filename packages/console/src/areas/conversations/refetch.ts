import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Returns a function that refetches the visible queries below a key: immediately, then at most once per `ms`, and once more
 * after the last call. A refetch always completes before the next one starts: in a busy app, cancelling it for the next
 * one would mean that none ever completes.
 */
export function useRefetch(queryKey: QueryKey, ms: number): () => void {
  const queries = useQueryClient()
  const latest = useRef(queryKey)
  const state = useRef<'idle' | 'fetching' | 'again' | 'unmounted'>('idle')
  useEffect(() => {
    latest.current = queryKey
  })
  useEffect(() => {
    state.current = 'idle'
    return () => {
      state.current = 'unmounted'
    }
  }, [])
  const refetch = async () => {
    const filters = { queryKey: latest.current }
    const underWay = queries.isFetching(filters) > 0
    await queries.invalidateQueries(filters, { cancelRefetch: false })
    // A fetch that was already under way may have started before the change that triggered this one.
    if (underWay) await queries.invalidateQueries(filters, { cancelRefetch: false })
  }
  const run = async () => {
    if (state.current === 'fetching') state.current = 'again'
    if (state.current !== 'idle') return
    state.current = 'fetching'
    await Promise.all([refetch(), delay(ms)])
    const after = state.current as string
    if (after === 'unmounted') return
    state.current = 'idle'
    if (after === 'again') void run()
  }
  return () => void run()
}
