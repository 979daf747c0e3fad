/** What the hub lends to each of its agents. */
import type { AgentLog, Notes } from '@parley/a2a'
import { guardedFetch, guardedLookup } from '@parley/a2a/node'
import { systemClock } from '@parley/a2a/server'
import type { KindParts } from './agents/kind.ts'
import { createPartBytes } from './agents/part-bytes.ts'
import { defined } from './defined.ts'
import { ownNotes } from './own-notes.ts'
import type { RegistryParts } from './registry.ts'

export interface LendingParts extends Pick<KindParts, 'programEnv' | 'model' | 'publicUrl'> {
  readonly notes: Notes
  readonly log: AgentLog
  /** Of what is fetched for a part that is a url. */
  readonly limitBytes?: number | undefined
  readonly jsonNodes?: number | undefined
  house(name: string): KindParts['house']
  readonly cost: KindParts['cost']
  /** Something about an agent is otherwise than it was. */
  notice(name: string): void
}

export function kindPartsOf(lent: LendingParts): RegistryParts['kindParts'] {
  const { notes, log, limitBytes, jsonNodes, house, notice, programEnv, model, cost, publicUrl } = lent
  const guard = guardedFetch({ allowHttp: true })
  const resolve = guardedLookup()
  const guarded: typeof fetch = (input, init) => guard(new Request(input, init))
  const bytes = createPartBytes({ guardedFetch: guarded, ...defined({ limitBytes }) })
  // The same object for all agents of a kind: what they have in common, such as a connection, hangs on it.
  const ofKinds = new Map<string, Notes>()
  const notesOfKind = (kind: string): Notes => {
    const own = ofKinds.get(kind) ?? ownNotes(notes, `kind/${kind}`)
    ofKinds.set(kind, own)
    return own
  }
  return (name, { persona, timeout: turnTimeoutMs }, kind, baseDir) => ({
    name,
    log: named(log, name),
    baseDir,
    fetch: globalThis.fetch,
    guardedFetch: guarded,
    guardedLookup: resolve,
    notes: ownNotes(notes, `agent/${name}`),
    kindNotes: notesOfKind(kind.kind),
    programEnv,
    bytes,
    house: house(name),
    model,
    ...defined({ cost, persona, jsonNodes, turnTimeoutMs: turnTimeoutMs ?? kind.turnTimeoutMs }),
    publicUrl,
    ...systemClock,
    notice: () => notice(name),
  })
}

function named(log: AgentLog, agent: string): AgentLog {
  const at =
    (level: keyof AgentLog): AgentLog[keyof AgentLog] =>
    (message, fields) =>
      log[level](message, { agent, ...fields })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
