/**
 * The agents of a server. They come and go while it runs; whoever looks one up gets the one of that moment, and one that
 * is going stays to be found until the process ends, so that what it did can be read.
 */
import { ConfigError } from './config-error.ts'
import type { Agent, AgentSettings, AgentsOption } from './options.ts'
import { nobody, noDefault, type Resident, retired, settle, settleNamed, type Shared } from './resident.ts'

export interface Roster {
  /** Those that are going, too. */
  readonly byName: ReadonlyMap<string, Resident>
  /** Answers at the root as well. A field and no getter: it is looked at for every request. */
  readonly first: Resident
  /** In the order in which they came, without those that are going. */
  names(): readonly string[]
  /** Answers whom it replaces. Throws ConfigError. */
  set(name: string, given: Agent | AgentSettings): Resident | undefined
  /** From now on it begins nothing. Nothing if there is no such agent. */
  dismiss(name: string): Resident | undefined
  /** Nothing of it runs any more. */
  retire(resident: Resident): void
  /** `false`: no agent is. Throws ConfigError if there is no such agent. */
  makeDefault(name: string | false): void
  /** Calls the listener after each change. */
  onChange(listener: () => void): void
}

/** The name of an agent that is alone. Tasks are kept under it, so it must not follow the card's name. */
export const onlyAgent = 'default'

export function createRoster(options: AgentsOption & Shared): Roster {
  const isAlone = options.agents === undefined
  // A single agent is described by the server's own options: these stay when the agent is replaced.
  const kept: Shared = options.idempotency === undefined ? {} : { idempotency: options.idempotency }
  const residents = isAlone
    ? [settle(onlyAgent, '', 'agent', options)]
    : Object.entries(options.agents).map(([name, given]) => settleNamed(name, given, options))
  const [eldest] = residents
  if (eldest === undefined) throw new ConfigError('agents', 'name at least one agent')
  const byName = new Map(residents.map((resident) => [resident.name, resident]))
  let wanted: string | false | undefined
  const listeners: (() => void)[] = []
  const onChange = (listener: () => void): void => void listeners.push(listener)
  const roster = { byName, first: eldest, names, set, dismiss, retire, makeDefault, onChange }
  if (!isAlone && options.default !== undefined) makeDefault(options.default)
  return roster

  function isHere({ entry }: Resident): boolean {
    return entry.isLeaving !== true
  }

  function names(): readonly string[] {
    return [...byName.values()].filter(isHere).map(({ name }) => name)
  }

  function choose(): void {
    roster.first = wanted === false ? noDefault() : (firstHere(wanted) ?? nobody())
    for (const listener of listeners) listener()
  }

  function firstHere(name: string | undefined): Resident | undefined {
    const named = name === undefined ? undefined : byName.get(name)
    return named !== undefined && isHere(named) ? named : [...byName.values()].find(isHere)
  }

  function set(name: string, given: Agent | AgentSettings): Resident | undefined {
    if (isAlone && name !== onlyAgent) throw alone(name)
    const resident = isAlone
      ? settle(onlyAgent, '', 'agent', 'agent' in given ? given : { agent: given }, kept)
      : settleNamed(name, given, options)
    const before = byName.get(name)
    byName.set(name, resident)
    choose()
    return before
  }

  function dismiss(name: string): Resident | undefined {
    if (isAlone) throw alone(name)
    const resident = byName.get(name)
    if (resident === undefined) return undefined
    // The same object, so that the turns that are under way go on with it.
    const entry: { isLeaving?: boolean } = resident.entry
    entry.isLeaving = true
    choose()
    return resident
  }

  function retire(resident: Resident): void {
    // Somebody else may have come by that name.
    if (byName.get(resident.name) === resident) byName.set(resident.name, retired(resident))
  }

  function makeDefault(name: string | false): void {
    const resident = name === false ? undefined : byName.get(name)
    if (name !== false && (resident === undefined || !isHere(resident))) {
      throw new ConfigError('default', 'name one of the agents')
    }
    wanted = name
    choose()
  }
}

function alone(name: string): ConfigError {
  return new ConfigError(`agents.${name}`, 'this server was made for one agent: give agents to have several')
}
