/** A dialog in front of everything, open for as long as a signal says so. Esc and a press beside it close it. */
import type { Signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

export interface DialogProps {
  readonly ref: RefObject<HTMLDialogElement | null>
  onCancel(event: Event): void
  onClose(): void
  onClick(event: Event): void
}

/** To be spread over the `<dialog>`. */
export function useDialog(isOpen: Signal<boolean>): DialogProps {
  const frame = useRef<HTMLDialogElement>(null)
  const closeOn = ({ target }: Event): void => {
    if (target === frame.current) isOpen.value = false
  }
  // At once: the next key may come before the next frame is drawn.
  useLayoutEffect(() => {
    if (isOpen.value) frame.current?.showModal()
    else frame.current?.close()
  }, [isOpen.value])
  return {
    ref: frame,
    // The browser closes it now and tells of that only later: the key that opens it again may come first.
    onCancel: closeOn,
    // Told late: it may be open again.
    onClose: () => {
      if (frame.current?.open !== true) isOpen.value = false
    },
    onClick: closeOn,
  }
}
