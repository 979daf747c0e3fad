/** Exports what is listed, page by page; while it does, it says how far it is and can be stopped. */
import { Icon } from './icon.tsx'
import { count } from './words.ts'

export function ExportButton({
  made,
  onStart,
  onStop,
}: {
  /** So many so far; nothing where nothing is being exported. */
  readonly made: number | undefined
  readonly onStart: () => void
  readonly onStop: () => void
}) {
  if (made !== undefined) {
    return (
      <button type="button" class="small" onClick={onStop}>
        <Icon name="stop" size={14} />
        Stop, {count(made)} so far
      </button>
    )
  }
  return (
    <button type="button" class="small" onClick={onStart}>
      <Icon name="download" size={14} />
      Export
    </button>
  )
}
