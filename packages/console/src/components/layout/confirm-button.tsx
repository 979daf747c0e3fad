/**
 * A button that asks before an action that cannot be undone: what happens, to what, and the same verb again. Errors are shown
 * beside the button.
 */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { ErrorNotice } from '../status/error-notice.tsx'
import './confirm.css'

export interface ConfirmButtonProps {
  /** A verb: Revoke, Remove, Approve. */
  readonly label: string
  /** For example `Revoke the key “build”?` */
  readonly question: string
  /** The consequences. */
  readonly children?: ComponentChildren
  readonly class?: string
  /** Whether the action is destructive. */
  readonly danger?: boolean
  readonly disabled?: boolean
  /** Accessible name, for screen readers that do not read the row around the button. */
  readonly title?: string
  onConfirm(): Promise<void>
}

export function ConfirmButton(props: ConfirmButtonProps) {
  const { label, question, children, class: look = '', danger = true, disabled = false, title, onConfirm } = props
  const frame = useRef<HTMLDialogElement>(null)
  const isOpen = useSignal(false)
  const isBusy = useSignal(false)
  const reason = useSignal<unknown>(undefined)

  function ask(): void {
    reason.value = undefined
    isOpen.value = true
    frame.current?.showModal()
  }

  async function confirm(): Promise<void> {
    isBusy.value = true
    try {
      await onConfirm()
      frame.current?.close()
    } catch (thrown) {
      reason.value = thrown
    }
    isBusy.value = false
  }

  return (
    <>
      <button
        type="button"
        class={`${danger ? 'danger ' : ''}${look}`}
        aria-label={title}
        disabled={disabled}
        onClick={ask}
      >
        {label}
      </button>
      <dialog
        ref={frame}
        class="confirm"
        aria-label={question}
        onClose={() => (isOpen.value = false)}
        onClick={(event) => event.target === frame.current && frame.current?.close()}
      >
        {isOpen.value && (
          <div class="stack confirm-body">
            <h2>{question}</h2>
            <div class="soft">{children}</div>
            {reason.value !== undefined && <ErrorNotice reason={reason.value} />}
            <div class="confirm-choice">
              <button type="button" autofocus onClick={() => frame.current?.close()}>
                Not now
              </button>
              <button
                type="button"
                class={danger ? 'danger' : 'primary'}
                disabled={isBusy.value}
                onClick={() => void confirm()}
              >
                {label}
              </button>
            </div>
          </div>
        )}
      </dialog>
    </>
  )
}
