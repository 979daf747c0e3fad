/** Runs a detection that the user can cancel: since when it runs, and how it ended. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { callAdmin, type AdminResponse } from '../api/admin-client.ts'
import { toProblem, type Problem } from '../api/problem.ts'

export type DetectionResult = AdminResponse<'detectAgent'>

export interface Detection {
  /** When the running detection began. */
  readonly startedAt: number | undefined
  readonly result: DetectionResult | undefined
  readonly problem: Problem | undefined
  /** Ends a detection that runs already. */
  run(target: string | readonly string[], token: string): Promise<DetectionResult | undefined>
  cancel(): void
}

export function useDetection(): Detection {
  const startedAt = useSignal<number | undefined>(undefined)
  const result = useSignal<DetectionResult | undefined>(undefined)
  const problem = useSignal<Problem | undefined>(undefined)
  const running = useRef<AbortController | undefined>(undefined)

  function cancel(): void {
    running.current?.abort()
    running.current = undefined
    startedAt.value = undefined
  }
  // The hub stops the programs that it has started.
  useEffect(() => cancel, [])

  async function run(target: string | readonly string[], token: string): Promise<DetectionResult | undefined> {
    cancel()
    const controller = new AbortController()
    running.current = controller
    startedAt.value = Date.now()
    result.value = undefined
    problem.value = undefined
    try {
      const body = { target, ...(token === '' ? {} : { token }) }
      result.value = await callAdmin('detectAgent', { body, signal: controller.signal })
    } catch (reason) {
      if (controller.signal.aborted) return undefined
      problem.value = toProblem(reason)
    }
    cancel()
    return result.value
  }

  return { startedAt: startedAt.value, result: result.value, problem: problem.value, run, cancel }
}

export interface DetectedEntry {
  readonly entry?: DetectionResult['entry'] | undefined
  readonly secret?: string | undefined
}

/** The entry and its secret under the name that the user chose for the agent. */
export function detectedAs(
  { name = '', entry, secret }: Pick<DetectionResult, 'name'> & DetectedEntry,
  chosen: string,
): DetectedEntry {
  if (secret?.startsWith(`${name}-`) !== true || entry === undefined || chosen === '') return { entry, secret }
  const renamed = chosen + secret.slice(name.length)
  const text = JSON.stringify(entry).replaceAll(`\${hub:${secret}}`, `\${hub:${renamed}}`)
  return { entry: JSON.parse(text) as typeof entry, secret: renamed }
}
