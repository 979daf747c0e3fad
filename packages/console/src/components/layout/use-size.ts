/** The size of an element, kept current. */
import { useSignal, type ReadonlySignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

export interface ElementSize {
  /** In pixels. */
  readonly width: number
  readonly height: number
}

/** `initial` until the element is measured. `key` changes when another element is rendered. */
export function useSize(
  element: RefObject<HTMLElement | null>,
  initial: ElementSize,
  key?: unknown,
): ReadonlySignal<ElementSize> {
  const size = useSignal(initial)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const measure = (): void => {
      const { clientWidth: width, clientHeight: height } = current
      if (width !== size.peek().width || height !== size.peek().height) size.value = { width, height }
    }
    const watch = new ResizeObserver(measure)
    watch.observe(current)
    measure()
    return () => watch.disconnect()
  }, [key])
  return size
}
