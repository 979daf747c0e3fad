/** What applying a configuration does, in words, before and after. */
import type { ConfigEffects } from '../../../api/admin.ts'

export interface Effect {
  readonly id: keyof ConfigEffects | 'none'
  readonly word: string
  /** Agents or sections; told apart, because agents can be looked at. */
  readonly names: readonly string[]
  readonly text: string
}

export function effectsIn({ added, changed, removed, applied, restart }: ConfigEffects): readonly Effect[] {
  const all: readonly Effect[] = [
    { id: 'added', word: 'new', names: added, text: 'can be called at once.' },
    {
      id: 'changed',
      word: 'changed',
      names: changed,
      text: 'new messages go to the new one, what runs is finished by the one it began with.',
    },
    {
      id: 'removed',
      word: 'removed',
      names: removed,
      text: 'new messages are refused; what runs is finished, and tasks stay.',
    },
    { id: 'applied', word: 'at once', names: applied, text: 'holds at once.' },
    { id: 'restart', word: 'later', names: restart, text: 'holds only after the hub is started again.' },
  ]
  const found = all.filter(({ names }) => names.length > 0)
  if (found.length > 0) return found
  return [
    { id: 'none', word: 'nothing', names: [], text: 'The hub does nothing else than before: only the text differs.' },
  ]
}

/** In one line, for those who only hear it. */
export function effectsLine(effects: ConfigEffects): string {
  return effectsIn(effects)
    .map(({ id, word, names, text }) => (id === 'none' ? text : `${word}: ${names.join(', ')}`))
    .join('; ')
}
