/** Keys: made, shown once, narrowed, revoked. Of one agent, or of the whole hub. */
export function KeysPanel({ agent }: { readonly agent?: string }) {
  return <p>{agent}</p>
}
