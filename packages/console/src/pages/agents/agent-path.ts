/** Where an agent is in the console. */
export function agentPath(name: string, tab?: string): string {
  const path = `/agents/${encodeURIComponent(name)}`
  if (tab !== undefined && tab !== 'overview') return `${path}/${tab}`
  // The bare name is the form for another agent.
  return name === 'new' ? `${path}/overview` : path
}

/** A text that is far too long for an address is begun there and no more. */
const longest = 2_000

export function playgroundPath(name: string, text?: string): string {
  const path = `/playground/${encodeURIComponent(name)}`
  return text === undefined ? path : `${path}?text=${encodeURIComponent(whole(text.slice(0, longest)))}`
}

/** Half a character is none. */
function whole(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}
