/** Asking from anywhere, also where there is no button to ask beside: `await confirmed({ … })`. */
import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import '../parts/confirm.css'

export interface Question {
  readonly title: string
  readonly text: string
  /** What is done, as a verb. */
  readonly action: string
}

const asked = signal<(Question & { answer(isYes: boolean): void }) | undefined>(undefined)

export function confirmed(question: Question): Promise<boolean> {
  asked.peek()?.answer(false)
  return new Promise((resolve) => {
    asked.value = { ...question, answer: resolve }
  })
}

/** Once, in the frame. */
export function QuestionDialog() {
  const frame = useRef<HTMLDialogElement>(null)
  const question = asked.value
  useLayoutEffect(() => {
    if (question !== undefined) frame.current?.showModal()
  }, [question])

  function answer(isYes: boolean): void {
    asked.value = undefined
    frame.current?.close()
    question?.answer(isYes)
  }

  return (
    <dialog
      ref={frame}
      class="confirm"
      aria-label={question?.title}
      onClose={() => asked.peek() !== undefined && answer(false)}
    >
      {question !== undefined && (
        <div class="confirm-body">
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
