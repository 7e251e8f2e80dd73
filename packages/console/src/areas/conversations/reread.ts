import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Reads again what is in sight below a key: at once, then at most once in so many milliseconds, the last time included. One
 * reading follows the other: in a busy app one that was broken off for the next would never end.
 */
export function useReread(queryKey: QueryKey, ms: number): () => void {
  const queries = useQueryClient()
  const latest = useRef(queryKey)
  const state = useRef<'idle' | 'reading' | 'again' | 'gone'>('idle')
  useEffect(() => {
    latest.current = queryKey
  })
  useEffect(() => {
    state.current = 'idle'
    return () => {
      state.current = 'gone'
    }
  }, [])
  const read = async () => {
    const filters = { queryKey: latest.current }
    const underWay = queries.isFetching(filters) > 0
    await queries.invalidateQueries(filters, { cancelRefetch: false })
    // What was under way may have begun before that which is to be seen.
    if (underWay) await queries.invalidateQueries(filters, { cancelRefetch: false })
  }
  const run = async () => {
    if (state.current === 'reading') state.current = 'again'
    if (state.current !== 'idle') return
    state.current = 'reading'
    await Promise.all([read(), pause(ms)])
    const after = state.current as string
    if (after === 'gone') return
    state.current = 'idle'
    if (after === 'again') void run()
  }
  return () => void run()
}
