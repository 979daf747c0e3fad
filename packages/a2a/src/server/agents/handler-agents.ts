/** Lets the operator add, replace and remove agents while the server runs. */
import type { AgentEntry, Engine } from '../../engine/contract.ts'
import { ConfigError } from '../config-error.ts'
import type { Agent, AgentSettings } from '../options.ts'
import type { AgentRegistry } from './agent-registry.ts'

/** Adds, replaces and removes agents while the server runs. */
export interface HandlerAgents {
  /** The agents that accept messages, in registration order. */
  names(): readonly string[]
  /**
   * Adds an agent, or replaces the one of that name: new turns run with it. Throws ConfigError as at the start. Resolves when no
   * turn runs with the replaced agent any more.
   */
  set(name: string, settings: Agent | AgentSettings): Promise<void>
  /**
   * Removes an agent: it accepts no new tasks. Running tasks continue and can be read, answered and canceled. Resolves when none
   * runs in this process any more. Its tasks stay readable at its address until the process ends.
   */
  remove(name: string): Promise<void>
  /** This agent serves the root from now on. If it is removed, the oldest agent does. `false`: none does. Throws ConfigError. */
  makeDefault(name: string | false): void
}

export function createHandlerAgents(
  registry: AgentRegistry,
  engine: Engine,
  tenants: readonly string[],
): HandlerAgents {
  /** Calls `then` at the moment when nothing runs. */
  async function whenIdle(entry: AgentEntry, then?: () => void): Promise<void> {
    for (let work = engine.whenRunsEnd(entry); work !== undefined; work = engine.whenRunsEnd(entry)) await work
    then?.()
  }

  return {
    names: registry.names,
    set(name, settings) {
      if (tenants.includes(name))
        throw new ConfigError(`agents.${name}`, 'is the name of a tenant: choose another name')
      const before = registry.set(name, settings)
      return before === undefined ? Promise.resolve() : whenIdle(before.entry)
    },
    async remove(name) {
      const registeredAgent = registry.dismiss(name)
      if (registeredAgent === undefined) return
      await whenIdle(registeredAgent.entry, () => registry.retire(registeredAgent))
    },
    makeDefault: registry.makeDefault,
  }
}
