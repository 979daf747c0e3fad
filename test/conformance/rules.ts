/** The rule book: every rule that the tests may cite, in the order of docs/contributing/conformance. */
import type { Rule, Section } from './rule.ts'
import { canceling } from './rules/canceling.ts'
import { client, skillInvocation, webhookReceiver } from './rules/client.ts'
import { cards, extendedCard, signatures, versioning } from './rules/discovery.ts'
import { framing } from './rules/framing.ts'
import { json } from './rules/json.ts'
import { listing } from './rules/listing.ts'
import { lifetimes, peers } from './rules/peers.ts'
import { pushing } from './rules/push.ts'
import { requests } from './rules/requests.ts'
import { history, sending } from './rules/sending.ts'
import { streaming, subscribing } from './rules/streaming.ts'
import { identifiers, tasks } from './rules/tasks.ts'
import { topics } from './rules/topics.ts'
import { extensions, reliability, trust } from './rules/trust.ts'

export const sections: readonly Section[] = [
  json,
  framing,
  versioning,
  cards,
  signatures,
  extendedCard,
  requests,
  tasks,
  identifiers,
  sending,
  history,
  listing,
  streaming,
  subscribing,
  canceling,
  extensions,
  trust,
  reliability,
  client,
  skillInvocation,
  pushing,
  webhookReceiver,
  topics,
  lifetimes,
  peers,
]

export const rules: readonly Rule[] = sections.flatMap((section) => section.rules)

/** Not implemented yet, one line each. */
export const laterRuleIds: readonly { readonly what: string; readonly ids: readonly string[] }[] = [
  { what: 'Metrics, and a record of who created and changed tasks', ids: ['T-12'] },
  { what: 'Chains of agents made with several SDKs, in mixed versions and bindings', ids: ['T-20'] },
]

/** Every id that a comment may name: each must be documented. */
export const knownIds: ReadonlySet<string> = new Set([
  ...rules.map((rule) => rule.id),
  ...laterRuleIds.flatMap((group) => group.ids.flatMap(expand)),
])

/** `B-29…B-34` is six ids. */
function expand(ids: string): readonly string[] {
  const [first = '', last = first] = ids.split('…')
  const [prefix = '', from = ''] = first.split('-')
  const to = Number(last.split('-')[1])
  return Array.from({ length: to - Number(from) + 1 }, (_, index) => `${prefix}-${Number(from) + index}`)
}
