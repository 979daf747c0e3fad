/**
 * Tracks the card of the remote agent: the approved one and the current one. The first card is approved automatically,
 * because the operator wrote the entry with it in view. Every later change is reported to the operator. The policy `block`
 * prevents its use until the operator approves it: an agent that changes its description or its addresses may not be the
 * one that was chosen.
 */
import { createHash } from 'node:crypto'
import type { AgentCard, AgentSkill, Json } from '@parley/a2a'
import type { RemoteAgent } from '@parley/a2a/client'
import { cardInfo } from '@parley/a2a/internal'
import type { CardState, CardWatch, AgentServices, ObservedCard, PartialCard } from '../kind.ts'
import type { A2AEntry } from './entry.ts'

export interface RemoteCardWatch extends CardWatch {
  /** Records a card that was just fetched. Resolves to whether it may be used. */
  observe(remote: Pick<RemoteAgent, 'card' | 'signature'>): Promise<boolean>
  approved(): Promise<AgentCard | undefined>
}

type CardWatchDeps = Pick<AgentServices, 'kv' | 'now' | 'log' | 'notifyChange' | 'refreshCard'>

/** The stored form. A card that was approved for another address does not count. */
interface StoredCard extends ObservedCard {
  readonly url: string
}

const recordKind = 'card'

export function createCardWatch({ url, drift: policy }: A2AEntry, deps: CardWatchDeps): RemoteCardWatch {
  const { kv, now, log } = deps
  let signature: CardState['signature']
  let loggedFingerprint: string | undefined

  async function read(key: 'approved' | 'changed'): Promise<StoredCard | undefined> {
    const kept = (await kv.read(recordKind, key))?.value as unknown as StoredCard | undefined
    return kept?.url === url ? kept : undefined
  }

  async function write(key: 'approved' | 'changed', seen: ObservedCard): Promise<void> {
    await kv.write(recordKind, { key, value: { ...seen, url } as unknown as Json })
  }

  async function forget(): Promise<void> {
    if (await kv.remove(recordKind, 'changed')) deps.notifyChange?.()
  }

  return {
    async observe({ card, signature: checkedSignature }) {
      signature = checkedSignature
      if (policy === 'ignore') return true
      const fingerprint = cardFingerprint(card)
      const approved = await read('approved')
      if (approved === undefined) await write('approved', { fingerprint, at: now(), card })
      if (approved === undefined || approved.fingerprint === fingerprint) {
        await forget()
        return true
      }
      const knownChange = await read('changed')
      if (knownChange?.fingerprint !== fingerprint) await write('changed', { fingerprint, at: now(), card })
      if (loggedFingerprint !== fingerprint) {
        loggedFingerprint = fingerprint
        log.warn('the card of the remote agent has changed since it was approved', {
          fields: changedFields(approved.card, card),
          policy,
        })
        deps.notifyChange?.()
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
      deps.refreshCard?.()
      return true
    },
  }
}

/** Hashes the content of the card without its signatures, which may change with every key. */
export function cardFingerprint({ signatures: _, ...card }: AgentCard): string {
  return createHash('sha256').update(canonicalJson(card)).digest('hex').slice(0, 32)
}

/** The names of the changed fields; for skills, which ones. */
function changedFields(before: AgentCard, after: AgentCard): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const differs = (name: string): boolean =>
    canonicalJson(Reflect.get(before, name)) !== canonicalJson(Reflect.get(after, name)) && name !== 'signatures'
  return [...names].filter(differs).flatMap((name) => (name === 'skills' ? changedSkills(before, after) : [name]))
}

function changedSkills(before: AgentCard, after: AgentCard): readonly string[] {
  const byId = (card: AgentCard): ReadonlyMap<string, AgentSkill> =>
    new Map(card.skills.map((skill) => [skill.id, skill]))
  const [was, is] = [byId(before), byId(after)]
  const ids = [...new Set([...was.keys(), ...is.keys()])]
  const changed = ids.filter((id) => canonicalJson(was.get(id)) !== canonicalJson(is.get(id)))
  return changed.length === 0 ? ['skills'] : changed.map((id) => `skills.${id}`)
}

/** JSON with sorted keys, so that equal values give equal text. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
    .join(',')}}`
}

/**
 * The fields of a remote card that also apply to the local agent: what it can do and who provides it. This hub sets how the
 * agent is reached, who may call it and who signs its card, so interfaces, security and signatures are dropped (B-34).
 */
export function toPartialCard(card: AgentCard): PartialCard {
  const { name, description, version, skills } = card
  return {
    name,
    ...(description !== '' ? { description } : {}),
    ...(version !== '' ? { version } : {}),
    ...cardInfo(card),
    skills: skills.map(skillOf),
    ...(card.defaultInputModes.length > 0 ? { inputModes: card.defaultInputModes } : {}),
    ...(card.defaultOutputModes.length > 0 ? { outputModes: card.defaultOutputModes } : {}),
  }
}

function skillOf({ securityRequirements: _, ...skill }: AgentSkill): AgentSkill {
  return skill
}
