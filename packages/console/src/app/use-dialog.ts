/** A modal dialog, open while a signal is true. Esc and a click outside close it. */
import type { Signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

export interface DialogProps {
  readonly ref: RefObject<HTMLDialogElement | null>
  onCancel(event: Event): void
  onClose(): void
  onClick(event: Event): void
}

/** Spread these props over the `<dialog>`. */
export function useDialog(isOpen: Signal<boolean>): DialogProps {
  const dialogRef = useRef<HTMLDialogElement>(null)
  const closeOn = ({ target }: Event): void => {
    if (target === dialogRef.current) isOpen.value = false
  }
  // Synchronously: the next key may come before the next frame.
  useLayoutEffect(() => {
    if (isOpen.value) dialogRef.current?.showModal()
    else dialogRef.current?.close()
  }, [isOpen.value])
  return {
    ref: dialogRef,
    // The browser closes the dialog now but fires `close` later; the key that reopens it may come first.
    onCancel: closeOn,
    // Fires late: the dialog may be open again.
    onClose: () => {
      if (dialogRef.current?.open !== true) isOpen.value = false
    },
    onClick: closeOn,
  }
}
