/** Runs the action of a form or a button: whether it runs, and why it failed. */
import { useSignal } from '@preact/signals'
import { toProblem, type Problem } from '../../api/problem.ts'

export interface Submit {
  readonly isBusy: boolean
  /** Why the last run failed. */
  readonly problem: Problem | undefined
  /** Forgets the last error. */
  reset(): void
  run(): Promise<void>
  /** Runs the action instead of the form's own request. */
  onSubmit(event: Event): void
}

/** `onError` handles the error instead of `problem`. */
export function useSubmit(action: () => Promise<void>, onError?: (problem: Problem) => void): Submit {
  const isBusy = useSignal(false)
  const failure = useSignal<Problem | undefined>(undefined)

  async function run(): Promise<void> {
    isBusy.value = true
    failure.value = undefined
    try {
      await action()
    } catch (reason) {
      const problem = toProblem(reason)
      if (onError === undefined) failure.value = problem
      else onError(problem)
    }
    isBusy.value = false
  }

  return {
    isBusy: isBusy.value,
    problem: failure.value,
    reset: () => (failure.value = undefined),
    run,
    onSubmit(event) {
      event.preventDefault()
      void run()
    },
  }
}
