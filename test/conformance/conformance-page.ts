/** Writes docs/conformance.md from the rule book, the tests that cite it and the error table. Pure: the same input, the same page. */
import { errorTable } from '../../packages/a2a/src/model/error-table.ts'
import { A2AError, type ErrorCode } from '../../packages/a2a/src/model/error.ts'
import type { Citation } from './citations.ts'
import { deviations } from './deviations.ts'
import { kitDeviations } from './kit-deviations.ts'
import type { Rule } from './rule.ts'
import { laterRuleIds, sections } from './rules.ts'

/** A rule that dozens of tests touch is not clearer for all of their names. */
const shownPerRule = 4

const introduction = `# Conformance

<!-- Made by "npm run conformance" from the tests. Do not edit: a test compares this page with what it should be. -->

A2A (Agent2Agent) is a protocol between agents. It exists in three generations that are in use side by side, 0.2, 0.3 and 1.0, and its text leaves gaps. This page lists the rules that Parley keeps, as a server and as a client, in our own words, and for each the tests that show it. It is made from the names of those tests: a test that shows a rule ends with its id in brackets, and the same ids stand in comments of the source. What is not tested is listed as such.

| level | meaning |
|---|---|
| must, should, may | the protocol's own text |
| decision | the text is silent or contradicts itself; this is what we chose |
| practice | in no text, but what existing clients and servers do |
`

export function conformancePage(citations: readonly Citation[]): string {
  const tests = new Map<string, Citation[]>()
  for (const citation of citations) {
    for (const id of citation.ids) tests.set(id, [...(tests.get(id) ?? []), citation])
  }
  const parts = [
    introduction,
    summary(tests),
    ...sections.map(({ title, about, rules }) => `## ${title}\n\n${about}\n\n${ruleTable(rules, tests)}`),
    deviationList(),
    kitList(),
    errorCodes(),
    untestedRules(),
    laterRules(),
  ]
  return `${parts.map((part) => part.trim()).join('\n\n')}\n`
}

function summary(tests: ReadonlyMap<string, readonly Citation[]>): string {
  const all = sections.flatMap((section) => section.rules)
  const shown = all.filter((rule) => tests.has(rule.id))
  return `${shown.length} of ${all.length} rules are shown by tests.`
}

function ruleTable(rules: readonly Rule[], tests: ReadonlyMap<string, readonly Citation[]>): string {
  const rows = rules.map(({ id, level, versions, text, open }) => {
    const citations = tests.get(id) ?? []
    const shown = citations.length > 0 ? linkTests(citations) : open === undefined ? 'not yet' : `not shown: ${open}`
    return `| <a id="${id.toLowerCase()}"></a>${id} | ${level} | ${versions.join(', ')} | ${cell(text)} | ${shown} |`
  })
  return ['| rule | level | versions | what | shown by |', '|---|---|---|---|---|', ...rows].join('\n')
}

export function linkTests(citations: readonly Citation[]): string {
  const some = citations.slice(0, shownPerRule)
  const byFile = Map.groupBy(some, (citation) => citation.file)
  const lines = [...byFile].map(([file, found]) => {
    const names = [...new Set(found.map(({ name }) => `“${cell(name)}”`))]
    return `[${file.split('/').at(-1)}](../${file}): ${names.join(', ')}`
  })
  const more = citations.length - some.length
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('<br>')
}

function deviationList(): string {
  const rows = deviations.map(({ ids, what, why }) => `| ${ids.join(', ')} | ${cell(what)} | ${cell(why)} |`)
  return [
    '## Deliberate choices and deviations',
    'Where the text is silent, contradicts itself or would hurt its users, we chose.',
    ['| rules | what we do | why |', '|---|---|---|', ...rows].join('\n'),
  ].join('\n\n')
}

function kitList(): string {
  const rows = kitDeviations.map(({ kit, tests, on, ids, why }) => {
    const names = tests.map((test) => `\`${test}\``).join(', ')
    return `| ${kit} | ${names}${on === undefined ? '' : ` (${on})`} | ${ids.join(', ')} | ${cell(why)} |`
  })
  return [
    '## Where the official kit differs',
    'The [conformance agent](../examples/conformance-agent/README.md) passes the official conformance kits but for these tests, where kit and text disagree or the kit has a fault.',
    ['| kit | tests | rules we keep | why |', '|---|---|---|---|', ...rows].join('\n'),
  ].join('\n\n')
}

const whenRaised: Readonly<Record<ErrorCode, string>> = {
  PARSE_ERROR: 'the body is not JSON',
  INVALID_REQUEST: 'the envelope is wrong',
  METHOD_NOT_FOUND: 'no such method or path',
  AGENT_NOT_FOUND: 'no agent of that name, or none was named and there is no default; the agents are listed',
  METHOD_NOT_ALLOWED: 'the path exists, but not with this verb',
  INVALID_PARAMS: 'fields are missing or wrong; each is listed',
  INTERNAL: 'our fault; details are in the log only',
  TASK_NOT_FOUND: 'no such task, or not yours',
  TASK_NOT_CANCELABLE: 'the task has ended in another way',
  PUSH_NOTIFICATION_NOT_SUPPORTED: 'the agent has no webhooks',
  UNSUPPORTED_OPERATION: 'the agent or the state of the task does not allow it',
  CONTENT_TYPE_NOT_SUPPORTED: 'a part, or every accepted output, is of a kind the agent does not have',
  INVALID_AGENT_RESPONSE: 'the agent broke the protocol',
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: 'announced, but there is none',
  EXTENSION_SUPPORT_REQUIRED: 'the agent insists on an extension that was not asked for',
  VERSION_NOT_SUPPORTED: 'this interface does not speak that version',
  UNAUTHENTICATED: 'no valid credentials',
  PERMISSION_DENIED: 'valid credentials, but not for this',
  RATE_LIMITED: 'too many requests, streams or tasks of this caller',
  AGENT_UNAVAILABLE: 'the agent cannot be reached',
  INPUT_TIMEOUT: 'the question was not answered in time',
  TOOL_EXECUTION_FAILED: 'a tool on the side of the client failed',
  CONTEXT_REJECTED: 'the context id cannot be accepted',
  MESSAGE_ID_REUSED: 'the message id came before with other content',
  PAYLOAD_TOO_LARGE: 'the body is over the limit',
  UNSUPPORTED_MEDIA_TYPE: 'the request is not labelled as JSON',
  UNAVAILABLE: 'the server is shutting down, or its store does not answer',
  CARD_NOT_FOUND: 'no agent card was found at the address given',
  INTERRUPTED: 'a stream broke off',
  TASK_FAILED: 'the task that was waited for failed',
  INPUT_REQUIRED: 'the task that was waited for asks something',
  TIMEOUT: 'no answer in time',
  CANCELED: 'the signal of a turn whose task was canceled; sent as UNSUPPORTED_OPERATION',
}

function errorCodes(): string {
  const rows = Object.entries(errorTable).map(([code, mapping]) => {
    const ours = mapping.jsonrpc <= -32_090 && mapping.jsonrpc >= -32_099
    const cells = [
      code,
      `${mapping.jsonrpc}${ours ? ' (ours)' : ''}`,
      mapping.http,
      mapping.grpc,
      new A2AError(code as ErrorCode, '').retryable ? 'yes' : '',
      whenRaised[code as ErrorCode],
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [
    '## Error codes',
    'One table for every version and binding. The name is the `reason` in the details of a 1.0 error. Numbers marked as ours are not in the protocol; the others are official, some with a narrower reason of ours. The last five never cross the wire: clients make four of them, and agents see the fifth.',
    ['| reason | JSON-RPC | HTTP | gRPC | retry | when |', '|---|---|---|---|---|---|', ...rows].join('\n'),
  ].join('\n\n')
}

function untestedRules(): string {
  const open = sections.flatMap((section) => section.rules).filter((rule) => rule.open !== undefined)
  const byReason = Map.groupBy(open, (rule) => rule.open ?? '')
  const lines = [...byReason].map(([reason, group]) => `- ${group.map((rule) => rule.id).join(', ')}: ${reason}.`)
  return `## Rules without a test\n\n${lines.join('\n')}`
}

function laterRules(): string {
  const lines = laterRuleIds.map(({ what, ids }) => `- ${what} (${ids.join(', ').replaceAll('…', ' to ')}).`)
  return `## Comes later\n\nThese parts of a rule are not there yet, or none of it is.\n\n${lines.join('\n')}`
}

/** What may stand in a cell of a table. */
function cell(text: string): string {
  return text
    .replaceAll('|', String.raw`\|`)
    .replaceAll('<', '&lt;')
    .replaceAll('\n', ' ')
}
