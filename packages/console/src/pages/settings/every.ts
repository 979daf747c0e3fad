/** What the stream of changes does not tell is asked for every so often, as long as somebody looks at the page. */
import { useEffect, useRef } from 'preact/hooks'

export function useEvery(ms: number, look: () => void): void {
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
