/** Exports the listed items page by page. Shows the progress and can be stopped. */
import { Icon } from '../icon.tsx'
import { formatCount } from '../format.ts'

export function ExportButton({
  made: exportedCount,
  onStart,
  onStop,
}: {
  /** Items exported so far; `undefined` if no export runs. */
  readonly made: number | undefined
  readonly onStart: () => void
  readonly onStop: () => void
}) {
  if (exportedCount !== undefined) {
    return (
      <button type="button" class="small" onClick={onStop}>
        <Icon name="stop" size={14} />
        Stop, {formatCount(exportedCount)} so far
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
