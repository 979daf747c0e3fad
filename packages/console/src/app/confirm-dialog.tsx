/** Asks for confirmation from code that has no button to ask beside: `await requestConfirmation({ … })`. */
import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { ConfirmBody } from '../components/layout/confirm-button.tsx'

export interface ConfirmRequest {
  readonly title: string
  readonly text: string
  /** The action, as a verb. */
  readonly action: string
}

const pendingRequest = signal<(ConfirmRequest & { answer(isYes: boolean): void }) | undefined>(undefined)

export function requestConfirmation(question: ConfirmRequest): Promise<boolean> {
  pendingRequest.peek()?.answer(false)
  return new Promise((resolve) => {
    pendingRequest.value = { ...question, answer: resolve }
  })
}

/** Rendered once, in the app frame. */
export function ConfirmDialog() {
  const frame = useRef<HTMLDialogElement>(null)
  const question = pendingRequest.value
  useLayoutEffect(() => {
    if (question !== undefined) frame.current?.showModal()
  }, [question])

  function answer(isYes: boolean): void {
    pendingRequest.value = undefined
    frame.current?.close()
    question?.answer(isYes)
  }

  return (
    <dialog
      ref={frame}
      class="confirm"
      aria-label={question?.title}
      onClose={() => pendingRequest.peek() !== undefined && answer(false)}
    >
      {question !== undefined && (
        <ConfirmBody
          question={question.title}
          action={question.action}
          onCancel={() => answer(false)}
          onConfirm={() => answer(true)}
        >
          <p class="soft">{question.text}</p>
        </ConfirmBody>
      )}
    </dialog>
  )
}
