/** For whoever runs the server: agents that come and go while it does. */
import type { AgentEntry, Engine } from '../engine/contract.ts'
import { ConfigError } from './config-error.ts'
import type { Agent, AgentSettings } from './options.ts'
import type { Roster } from './roster.ts'

export interface HandlerAgents {
  /** Those that take messages, in the order in which they came. */
  names(): readonly string[]
  /**
   * Adds an agent, or puts it in the place of the one of that name: from now on turns begin with it. Throws ConfigError
   * as at the start. Resolves when nothing runs any more with what was there before.
   */
  set(name: string, settings: Agent | AgentSettings): Promise<void>
  /**
   * Takes an agent away: no new task reaches it. What runs goes on and can be read, answered and canceled; resolves when
   * nothing does any more in this process. Its tasks stay readable under its address until the process ends.
   */
  remove(name: string): Promise<void>
  /** From now on this one answers at the root. Should it go, the eldest does. `false`: none does. Throws ConfigError. */
  makeDefault(name: string | false): void
}

export function createHandlerAgents(roster: Roster, engine: Engine, tenants: readonly string[]): HandlerAgents {
  /** `then` is called in the moment in which nothing runs. */
  async function whenIdle(entry: AgentEntry, then?: () => void): Promise<void> {
    for (let work = engine.working(entry); work !== undefined; work = engine.working(entry)) await work
    then?.()
  }

  return {
    names: roster.names,
    set(name, settings) {
      if (tenants.includes(name))
        throw new ConfigError(`agents.${name}`, 'this is the name of a tenant, choose another')
      const before = roster.set(name, settings)
      return before === undefined ? Promise.resolve() : whenIdle(before.entry)
    },
    async remove(name) {
      const resident = roster.dismiss(name)
      if (resident === undefined) return
      await whenIdle(resident.entry, () => roster.retire(resident))
    },
    makeDefault: roster.makeDefault,
  }
}
