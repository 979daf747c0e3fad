/**
 * A button that asks before it does what cannot be undone: what is going to happen, to what, and the same verb again. What goes
 * wrong is told where one pressed.
 */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Trouble } from './trouble.tsx'
import './confirm.css'

export interface ConfirmProps {
  /** The verb: Revoke, Remove, Approve. */
  readonly label: string
  /** The question: `Revoke the key “build”?` */
  readonly question: string
  /** What happens then. */
  readonly children?: ComponentChildren
  readonly class?: string
  /** Whether it takes something away. */
  readonly danger?: boolean
  readonly disabled?: boolean
  /** For those who see no row around it. */
  readonly title?: string
  does(): Promise<void>
}

export function Confirm(props: ConfirmProps) {
  const { label, question, children, class: look = '', danger = true, disabled = false, title, does } = props
  const frame = useRef<HTMLDialogElement>(null)
  const isOpen = useSignal(false)
  const isBusy = useSignal(false)
  const reason = useSignal<unknown>(undefined)

  function ask(): void {
    reason.value = undefined
    isOpen.value = true
    frame.current?.showModal()
  }

  async function go(): Promise<void> {
    isBusy.value = true
    try {
      await does()
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
          <div class="confirm-body">
            <h2>{question}</h2>
            <div class="soft">{children}</div>
            {reason.value !== undefined && <Trouble reason={reason.value} />}
            <div class="confirm-choice">
              <button type="button" autofocus onClick={() => frame.current?.close()}>
                Not now
              </button>
              <button
                type="button"
                class={danger ? 'danger' : 'primary'}
                disabled={isBusy.value}
                onClick={() => void go()}
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
