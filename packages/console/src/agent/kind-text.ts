/** The name, the purpose and the icon of an agent kind. A hub may have kinds of its own. */
import type { IconName } from '../components/icon.tsx'

const kindTexts = {
  a2a: { name: 'A2A agent', detected: 'an A2A agent', about: 'A remote agent of any protocol version, by its URL.' },
  openai: {
    name: 'Model',
    detected: 'an OpenAI-compatible model',
    about: 'An OpenAI-compatible API: a provider, Ollama, vLLM, LM Studio.',
  },
  loop: {
    name: 'Model with tools',
    detected: 'a model with tools',
    about: 'A model that calls MCP tools and other agents until it is done.',
  },
  mcp: {
    name: 'MCP server',
    detected: 'an MCP server',
    about: 'Its tools become skills. Over HTTP, or as a program.',
  },
  acp: {
    name: 'Coding agent',
    detected: 'a coding agent (ACP)',
    about: 'A program that implements the Agent Client Protocol.',
  },
  command: {
    name: 'Command',
    detected: 'a command',
    about: 'Any program: a message on stdin, the answer on stdout.',
  },
  module: {
    name: 'Module',
    detected: 'a module',
    about: 'A TypeScript or JavaScript file that exports an agent.',
  },
  openclaw: { name: 'OpenClaw', detected: 'an OpenClaw gateway', about: 'An agent behind an OpenClaw gateway.' },
  demo: { name: 'Demo', detected: 'a demo agent', about: 'A built-in agent, to try the hub without a backend.' },
}

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
  const known: Readonly<Record<string, Omit<KindText, 'icon'>>> = kindTexts
  const text = Object.hasOwn(known, kind) ? known[kind] : undefined
  return { name: kind, detected: kind, about: 'A kind of this hub.', ...text, icon: icons[kind] ?? 'agents' }
}

/** The usual kinds first, then those of the hub. */
export function sortKinds<T extends { readonly kind: string }>(kinds: readonly T[]): readonly T[] {
  const order = Object.keys(kindTexts)
  const place = ({ kind }: T): number => (order.includes(kind) ? order.indexOf(kind) : order.length)
  return kinds.toSorted((one, other) => place(one) - place(other))
}
