/** The name, the purpose and the icon of an agent kind. A hub may have kinds of its own. */
import type { IconName } from '../components/icon.tsx'
import { agentStrings } from './strings.ts'

export interface KindText {
  readonly name: string
  /** With its article: `an A2A agent`. */
  readonly detected: string
  readonly about: string
  readonly icon: IconName
}

const icons: Readonly<Record<string, IconName>> = {
  a2a: 'globe',
  openai: 'spark',
  loop: 'loop',
  mcp: 'plug',
  acp: 'pencil',
  command: 'terminal',
  module: 'code',
  openclaw: 'gateway',
  demo: 'play',
}

export function kindText(kind: string): KindText {
  const known: Readonly<Record<string, Omit<KindText, 'icon'>>> = agentStrings.kinds
  const text = Object.hasOwn(known, kind) ? known[kind] : undefined
  return { name: kind, detected: kind, about: agentStrings.otherKind, ...text, icon: icons[kind] ?? 'agents' }
}

/** The usual kinds first, then those of the hub. */
export function sortKinds<T extends { readonly kind: string }>(kinds: readonly T[]): readonly T[] {
  const order = Object.keys(agentStrings.kinds)
  const place = ({ kind }: T): number => (order.includes(kind) ? order.indexOf(kind) : order.length)
  return kinds.toSorted((one, other) => place(one) - place(other))
}
