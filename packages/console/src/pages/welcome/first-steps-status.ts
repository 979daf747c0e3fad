/** The progress of a new user, from what the hub knows. */

export interface HubProgress {
  readonly agents: readonly { readonly name: string; readonly kind: string }[]
  /** The number of tasks, in any state. */
  readonly tasks: number
}

export interface FirstStepsStatus {
  readonly hasAgents: boolean
  readonly hasSent: boolean
  /** Whether there is an agent other than the demo. */
  readonly hasOwn: boolean
  readonly isDone: boolean
}

export function firstStepsStatus({ agents, tasks }: HubProgress): FirstStepsStatus {
  const [hasAgents, hasSent, hasOwn] = [agents.length > 0, tasks > 0, agents.some(({ kind }) => kind !== 'demo')]
  return { hasAgents, hasSent, hasOwn, isDone: hasSent && hasOwn }
}
