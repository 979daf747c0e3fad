/**
 * A button that asks before an action that cannot be undone: what happens, to what, and the same verb again. Errors are shown
 * beside the button.
 */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { useSubmit } from '../form/use-submit.ts'
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
  const { isBusy, problem, reset, run } = useSubmit(async () => {
    await onConfirm()
    frame.current?.close()
  })

  return (
    <>
      <button
        type="button"
        class={`${danger ? 'danger ' : ''}${look}`}
        aria-label={title}
        disabled={disabled}
        onClick={() => {
          reset()
          isOpen.value = true
          frame.current?.showModal()
        }}
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
          <ConfirmBody
            question={question}
            action={label}
            danger={danger}
            isBusy={isBusy}
            onCancel={() => frame.current?.close()}
            onConfirm={() => void run()}
          >
            <div class="soft">{children}</div>
            {problem !== undefined && <ErrorNotice reason={problem} />}
          </ConfirmBody>
        )}
      </dialog>
    </>
  )
}

export interface ConfirmBodyProps {
  readonly question: string
  readonly action: string
  readonly danger?: boolean
  readonly isBusy?: boolean
  readonly children: ComponentChildren
  onCancel(): void
  onConfirm(): void
}

/** The content of a dialog that asks for confirmation. */
export function ConfirmBody({ question, action, danger = true, isBusy = false, ...props }: ConfirmBodyProps) {
  return (
    <div class="stack confirm-body">
      <h2>{question}</h2>
      {props.children}
      <div class="confirm-choice">
        <button type="button" autofocus onClick={props.onCancel}>
          Not now
        </button>
        <button type="button" class={danger ? 'danger' : 'primary'} disabled={isBusy} onClick={props.onConfirm}>
          {action}
        </button>
      </div>
    </div>
  )
}
