/** A sentence of the hub’s, in which `names` stand between backticks. */
export function InlineWords({ text }: { readonly text: string }) {
  return (
    <>{text.split(/`([^`]+)`/).map((piece, index) => (index % 2 === 1 ? <code key={index}>{piece}</code> : piece))}</>
  )
}
