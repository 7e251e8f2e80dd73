import { useEffect, useRef } from 'react'

/** Does something at once, then at most once in so many milliseconds, the last time included. */
export function useThrottled(act: () => void, ms: number): () => void {
  const latest = useRef(act)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const again = useRef(false)
  useEffect(() => {
    latest.current = act
  })
  useEffect(() => () => clearTimeout(timer.current), [])
  const run = () => {
    if (timer.current !== undefined) {
      again.current = true
      return
    }
    latest.current()
    timer.current = setTimeout(() => {
      timer.current = undefined
      if (!again.current) return
      again.current = false
      run()
    }, ms)
  }
  return run
}
