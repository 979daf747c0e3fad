/**
 * The remote agent's card, as it was approved and as it is. The first one that is seen is approved: whoever wrote the entry
 * had it in front of them. From then on every other one is told to whoever runs the hub, and by policy not used before they
 * have looked at it: an agent that changes what it is, or where it sends us, is perhaps not the one that was chosen.
 */
import { createHash } from 'node:crypto'
import type { AgentCard, AgentSkill, Json } from '@parley/a2a'
import type { RemoteAgent } from '@parley/a2a/client'
import type { CardState, CardWatch, KindParts, SeenCard } from '../kind.ts'
import type { A2AEntry } from './entry.ts'

export interface RemoteCardWatch extends CardWatch {
  /** A card that was just fetched. Answers whether it may be used. */
  seen(remote: Pick<RemoteAgent, 'card' | 'signature'>): Promise<boolean>
  approved(): Promise<AgentCard | undefined>
}

type WatchParts = Pick<KindParts, 'notes' | 'now' | 'log' | 'notice' | 'lookAgain'>

/** As it is kept: one that was approved for another address says nothing of this one. */
interface Kept extends SeenCard {
  readonly url: string
}

const kind = 'card'

export function createCardWatch({ url, drift: policy }: A2AEntry, parts: WatchParts): RemoteCardWatch {
  const { notes, now, log } = parts
  let signature: CardState['signature']
  let told: string | undefined

  async function read(key: 'approved' | 'changed'): Promise<Kept | undefined> {
    const kept = (await notes.read(kind, key))?.value as unknown as Kept | undefined
    return kept?.url === url ? kept : undefined
  }

  async function write(key: 'approved' | 'changed', seen: SeenCard): Promise<void> {
    await notes.write(kind, { key, value: { ...seen, url } as unknown as Json })
  }

  async function forget(): Promise<void> {
    if (await notes.remove(kind, 'changed')) parts.notice?.()
  }

  return {
    async seen({ card, signature: judged }) {
      signature = judged
      if (policy === 'ignore') return true
      const fingerprint = fingerprintOf(card)
      const approved = await read('approved')
      if (approved === undefined) await write('approved', { fingerprint, at: now(), card })
      if (approved === undefined || approved.fingerprint === fingerprint) {
        await forget()
        return true
      }
      const waiting = await read('changed')
      if (waiting?.fingerprint !== fingerprint) await write('changed', { fingerprint, at: now(), card })
      if (told !== fingerprint) {
        told = fingerprint
        log.warn('the card of the remote agent has changed since it was approved', {
          fields: changedFields(approved.card, card),
          policy,
        })
        parts.notice?.()
      }
      return policy !== 'block'
    },
    approved: async () => (await read('approved'))?.card,
    async state() {
      const [approved, changed] = [await read('approved'), await read('changed')]
      return {
        policy,
        ...(approved !== undefined ? { approved } : {}),
        ...(approved !== undefined && changed !== undefined
          ? { changed: { ...changed, fields: changedFields(approved.card, changed.card) } }
          : {}),
        ...(signature !== undefined ? { signature } : {}),
      }
    },
    async approve(fingerprint) {
      const changed = await read('changed')
      if (changed?.fingerprint !== fingerprint) return false
      const { card } = changed
      await write('approved', { fingerprint, at: now(), card })
      await forget()
      parts.lookAgain?.()
      return true
    },
  }
}

/** Of what it says; who vouches for it may change with every key. */
export function fingerprintOf({ signatures: _, ...card }: AgentCard): string {
  return createHash('sha256').update(ordered(card)).digest('hex').slice(0, 32)
}

/** The members that differ; of skills which ones. */
function changedFields(before: AgentCard, after: AgentCard): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const differs = (name: string): boolean =>
    ordered(Reflect.get(before, name)) !== ordered(Reflect.get(after, name)) && name !== 'signatures'
  return [...names].filter(differs).flatMap((name) => (name === 'skills' ? changedSkills(before, after) : [name]))
}

function changedSkills(before: AgentCard, after: AgentCard): readonly string[] {
  const byId = (card: AgentCard): ReadonlyMap<string, AgentSkill> =>
    new Map(card.skills.map((skill) => [skill.id, skill]))
  const [was, is] = [byId(before), byId(after)]
  const ids = [...new Set([...was.keys(), ...is.keys()])]
  const changed = ids.filter((id) => ordered(was.get(id)) !== ordered(is.get(id)))
  return changed.length === 0 ? ['skills'] : changed.map((id) => `skills.${id}`)
}

/** The same text for the same value, in whatever order its members stand. */
function ordered(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(ordered).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${ordered(member)}`)
    .join(',')}}`
}
