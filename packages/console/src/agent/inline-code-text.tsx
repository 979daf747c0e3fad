/** A sentence from the hub, with `names` between backticks rendered as code. */
export function InlineCodeText({ text }: { readonly text: string }) {
  return (
    <>{text.split(/`([^`]+)`/).map((piece, index) => (index % 2 === 1 ? <code key={index}>{piece}</code> : piece))}</>
  )
}
