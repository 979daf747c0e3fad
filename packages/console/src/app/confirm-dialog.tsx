/** Asks for confirmation from code that has no button to ask beside: `await requestConfirmation({ … })`. */
import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import '../components/layout/confirm.css'

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
        <div class="stack confirm-body">
          <h2>{question.title}</h2>
          <p class="soft">{question.text}</p>
          <div class="confirm-choice">
            <button type="button" autofocus onClick={() => answer(false)}>
              Not now
            </button>
            <button type="button" class="danger" onClick={() => answer(true)}>
              {question.action}
            </button>
          </div>
        </div>
      )}
    </dialog>
  )
}
