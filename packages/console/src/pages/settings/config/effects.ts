/** The effects of applying a configuration as text, before and after. */
import type { ConfigEffects } from '../../../api/admin.ts'

export interface ConfigEffectText {
  readonly id: keyof ConfigEffects | 'none'
  readonly word: string
  /** Agents or sections; separate, because agents have pages to link to. */
  readonly names: readonly string[]
  readonly text: string
}

export function describeEffects({
  added,
  changed,
  removed,
  applied,
  restart,
}: ConfigEffects): readonly ConfigEffectText[] {
  const all: readonly ConfigEffectText[] = [
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
    { id: 'applied', word: 'at once', names: applied, text: 'takes effect immediately.' },
    { id: 'restart', word: 'later', names: restart, text: 'holds only after the hub is started again.' },
  ]
  const found = all.filter(({ names }) => names.length > 0)
  if (found.length > 0) return found
  return [
    { id: 'none', word: 'nothing', names: [], text: 'The hub does nothing else than before: only the text differs.' },
  ]
}

/** In one line, for screen readers. */
export function effectsSummary(effects: ConfigEffects): string {
  return describeEffects(effects)
    .map(({ id, word, names, text }) => (id === 'none' ? text : `${word}: ${names.join(', ')}`))
    .join('; ')
}
