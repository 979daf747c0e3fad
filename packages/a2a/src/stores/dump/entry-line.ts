/**
 * An entry of a dump as a line of JSON and back. The members of each type are listed once, in the order of the line (entry-row.ts uses the
 * list, too). JSON of the store
 * is a part of the line and not a text in it.
 */
import { isStruct } from '../../model/struct.ts'
import type { DumpEntry } from './dump-entry.ts'

type MemberKind = 'text' | 'integer' | 'number' | 'flag' | 'json' | 'due'
/** A name that ends in `?` is optional. A flag is written only if it is true. */
type Members = readonly (readonly [name: string, kind: MemberKind])[]

export const entryMembers: Readonly<Record<Exclude<DumpEntry['type'], 'blob'>, Members>> = {
  task: [
    ['id', 'text'],
    ['tenant', 'text'],
    ['agent', 'text'],
    ['owner', 'text'],
    ['contextId', 'text'],
    ['createdAt', 'integer'],
    ['statusAt', 'integer'],
    ['head', 'integer'],
    ['consumedSeq', 'integer'],
    ['visibleSeq', 'integer'],
    ['lastAt', 'integer'],
    ['isLogDropped', 'flag'],
    ['isLeased', 'flag'],
    ['due?', 'due'],
    ['status', 'json'],
    ['metadata?', 'json'],
  ],
  log: [
    ['position', 'integer'],
    ['firstSeq', 'integer'],
    ['lastSeq', 'integer'],
    ['records', 'json'],
  ],
  snapshot: [
    ['seq', 'integer'],
    ['task', 'json'],
    ['internal', 'json'],
  ],
  push: [
    ['number', 'integer'],
    ['id', 'text'],
    ['deliveredSeq', 'integer'],
    ['dueAt?', 'integer'],
    ['attempt', 'integer'],
    ['state', 'text'],
    ['createdAt', 'integer'],
    ['config', 'json'],
  ],
  attempt: [
    ['pushId', 'text'],
    ['seq', 'integer'],
    ['at', 'integer'],
    ['attempt', 'integer'],
    ['outcome', 'text'],
    ['durationMs', 'number'],
    ['answer?', 'text'],
  ],
  kv: [
    ['kind', 'text'],
    ['key', 'text'],
    ['version', 'integer'],
    ['updatedAt', 'integer'],
    ['expiresAt?', 'integer'],
    ['value', 'json'],
  ],
  claim: [
    ['digest', 'text'],
    ['taskId', 'text'],
    ['hash', 'text'],
    ['expiresAt', 'integer'],
  ],
  key: [
    ['id', 'text'],
    ['purpose', 'text'],
    ['material', 'text'],
    ['createdAt', 'integer'],
  ],
}

/** Without the line break. Throws if JSON of the store cannot be parsed: a line with it could not be read again. */
export function entryToLine(entry: DumpEntry): string {
  if (entry.type === 'blob') {
    const { digest, content } = entry
    const name = typeof content === 'string' ? 'text' : 'base64'
    const text = typeof content === 'string' ? JSON.stringify(content) : `"${Buffer.from(content).toString('base64')}"`
    return `{"type":"blob","digest":${JSON.stringify(digest)},"${name}":${text}}`
  }
  const values = entry as unknown as Readonly<Record<string, unknown>>
  let line = `{"type":"${entry.type}"`
  for (const [declared, kind] of entryMembers[entry.type]) {
    const name = memberName(declared)
    const value = values[name]
    if (value === undefined || (kind === 'flag' && value !== true)) continue
    line += `,"${name}":${kind === 'json' ? jsonToLine(value as string, entry) : JSON.stringify(value)}`
  }
  return `${line}}`
}

/**
 * The text itself if it is as `JSON.stringify` writes it, which all texts of a store are except numbers that PostgreSQL computed. Two
 * stores then give the same line for the same value.
 */
function jsonToLine(text: string, entry: DumpEntry): string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const which = 'id' in entry ? ` ${entry.id}` : 'position' in entry ? ` at position ${entry.position}` : ''
    throw new Error(`The stored JSON of the ${entry.type} entry${which} is damaged. Run "parley verify" for a report.`)
  }
  return entry.type === 'kv' || text.includes('\n') ? JSON.stringify(value) : text
}

/** Throws if the line is not an entry. */
export function entryFromLine(line: string): DumpEntry {
  const value: unknown = JSON.parse(line)
  if (!isStruct(value)) throw new Error('The line is not a JSON object')
  const { type, ...given } = value
  if (type === 'blob') return blobFrom(given)
  if (typeof type !== 'string' || !Object.hasOwn(entryMembers, type)) {
    throw new Error(`Unknown type of entry: ${JSON.stringify(type)}`)
  }
  const known = entryMembers[type as keyof typeof entryMembers]
  const entry: Record<string, unknown> = { type }
  let found = 0
  for (const [declared, kind] of known) {
    const name = memberName(declared)
    const member = given[name]
    if (member !== undefined) found += 1
    if (kind === 'flag') entry[name] = member === true
    else if (member !== undefined) entry[name] = read(member, kind, name)
    else if (name === declared) throw new Error(`The entry of type ${type} has no ${name}`)
  }
  // A member that is ignored would be lost.
  if (found !== Object.keys(given).length) throw new Error(`The entry of type ${type} has an unknown member`)
  return entry as unknown as DumpEntry
}

function blobFrom({ digest, base64, text }: Readonly<Record<string, unknown>>): DumpEntry {
  if (typeof digest !== 'string' || typeof (base64 ?? text) !== 'string') {
    throw new Error('The entry of type blob has no digest, base64 or text')
  }
  const content = typeof base64 === 'string' ? Buffer.from(base64, 'base64') : (text as string)
  return { type: 'blob', digest, content }
}

function read(value: unknown, kind: Exclude<MemberKind, 'flag'>, name: string): unknown {
  if (kind === 'json') return JSON.stringify(value)
  if (kind === 'text' ? typeof value === 'string' : kind === 'number' && typeof value === 'number') return value
  if (kind === 'integer' && Number.isSafeInteger(value)) return value
  if (kind === 'due' && isStruct(value) && Number.isSafeInteger(value['at'])) {
    const { kind: why, at } = value
    if (why === 'turn' || why === 'input') return { kind: why, at }
  }
  throw new Error(`The member ${name} is not ${kind === 'due' ? 'a due time' : `of the kind ${kind}`}`)
}

export function memberName(declared: string): string {
  return declared.endsWith('?') ? declared.slice(0, -1) : declared
}
