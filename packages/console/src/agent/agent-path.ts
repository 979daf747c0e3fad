/** Path of an agent in the console. */
export function agentPath(name: string, tab?: string): string {
  const path = `/agents/${encodeURIComponent(name)}`
  if (tab !== undefined && tab !== 'overview') return `${path}/${tab}`
  // `/agents/new` is the form that adds an agent, so an agent of that name needs its tab in the path.
  return name === 'new' ? `${path}/overview` : path
}

/** A longer text is truncated, because it does not fit into a URL. */
const maxTextLength = 2_000

export function playgroundPath(name: string, text?: string): string {
  const path = `/playground/${encodeURIComponent(name)}`
  return text === undefined ? path : `${path}?text=${encodeURIComponent(wellFormed(text.slice(0, maxTextLength)))}`
}

/** `encodeURIComponent` throws on a lone surrogate, which truncation may leave. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}
