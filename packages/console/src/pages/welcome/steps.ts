/** How far somebody is who has just met the hub, by what the hub itself knows. */

export interface Standing {
  readonly agents: readonly { readonly name: string; readonly kind: string }[]
  /** How many tasks there are, in whatever state. */
  readonly tasks: number
}

export interface Steps {
  readonly hasAgents: boolean
  readonly hasSent: boolean
  /** One that does not come with every hub. */
  readonly hasOwn: boolean
  readonly isDone: boolean
}

export function stepsOf({ agents, tasks }: Standing): Steps {
  const [hasAgents, hasSent, hasOwn] = [agents.length > 0, tasks > 0, agents.some(({ kind }) => kind !== 'demo')]
  return { hasAgents, hasSent, hasOwn, isDone: hasSent && hasOwn }
}
