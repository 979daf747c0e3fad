/** Polls what the change feed does not cover, while the page is visible. */
import { useEffect, useRef } from 'preact/hooks'

export function useVisibleInterval(ms: number, look: () => void): void {
  const latest = useRef(look)
  latest.current = look
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current()
    }, ms)
    const back = (): void => {
      if (document.visibilityState === 'visible') latest.current()
    }
    document.addEventListener('visibilitychange', back)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', back)
    }
  }, [ms])
}
