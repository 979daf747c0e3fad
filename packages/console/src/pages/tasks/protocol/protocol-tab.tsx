/** One event as clients of each version get it, side by side, with the differences marked; and the bytes of its frame. */
import { useMemo } from 'preact/hooks'
import { callAdmin, type AdminResponse } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { query, setQuery } from '../../../app/router.ts'
import { CopyButton } from '../../../components/content/copy-button.tsx'
import { bindingTitles } from '../../../components/binding-titles.ts'
import { Icon } from '../../../components/icon.tsx'
import { JsonTreeView } from '../../../components/content/json-tree.tsx'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import { formatBytes, pluralize } from '../../../components/format.ts'
import type { TaskLog } from '../detail/task-log.ts'
import { selectedSeq, selectEvent } from '../task-links.ts'
import { differencesByVersion } from './version-diff.ts'
import './protocol-tab.css'

type Frame = AdminResponse<'listTaskFrames'>['events'][number]['frames'][number]
const versions = ['1.0', '0.3', '0.2'] as const
type Version = (typeof versions)[number]
type Binding = Frame['binding']

export function ProtocolTab({ taskId, log }: { readonly taskId: string; readonly log: TaskLog }) {
  const visible = useMemo(() => log.events.value.filter(({ isVisible }) => isVisible), [log.events.value])
  const selected = selectedSeq()
  const seq = selected ?? visible.at(-1)?.seq
  const binding: Binding = query.value.get('binding') === 'rest' ? 'HTTP+JSON' : 'JSONRPC'
  const one = versions.find((version) => version === query.value.get('version'))
  if (seq === undefined) return log.isComplete.value ? <NoFrames /> : <Loading what="events" />
  const before = visible.findLast((event) => event.seq < seq)?.seq
  const after = visible.find((event) => event.seq > seq)?.seq
  return (
    <div class="fill protocol-tab">
      <div class="bar protocol-tools">
        <EventStepButton to={before} label="Previous event that clients receive" icon="back" />
        <span class="protocol-seq">Event {seq}</span>
        <EventStepButton to={after} label="Next event that clients receive" icon="next" />
        <span class="grow" />
        <SegmentedControl
          label="Binding"
          value={binding}
          options={[
            ['JSONRPC', bindingTitles.JSONRPC],
            ['HTTP+JSON', bindingTitles['HTTP+JSON']],
          ]}
          onChange={(wanted) => setQuery({ binding: wanted === 'HTTP+JSON' ? 'rest' : undefined })}
        />
        <SegmentedControl<Version | 'all'>
          label="Versions"
          value={one ?? 'all'}
          options={[['all', 'All'], ...versions.map((version) => [version, version] as const)]}
          onChange={(wanted) => setQuery({ version: wanted === 'all' ? undefined : wanted })}
        />
      </div>
      {visible.some((event) => event.seq === seq) ? (
        <Frames taskId={taskId} seq={seq} binding={binding} one={one} />
      ) : log.isComplete.value ? (
        <EmptyState title="Clients do not receive this event">
          <p>It is only in the log. Select one of the events beside it that clients receive.</p>
        </EmptyState>
      ) : (
        <Loading what="event" />
      )}
    </div>
  )
}

function NoFrames() {
  return <EmptyState title="No events sent to clients yet" />
}

function EventStepButton({
  to,
  label,
  icon,
}: {
  readonly to: number | undefined
  readonly label: string
  readonly icon: 'back' | 'next'
}) {
  return (
    <button
      type="button"
      class="icon small"
      aria-label={label}
      title={label}
      disabled={to === undefined}
      onClick={() => selectEvent(to)}
    >
      <Icon name={icon} size={14} />
    </button>
  )
}

interface FramesProps {
  readonly taskId: string
  readonly seq: number
  readonly binding: Binding
  readonly one: Version | undefined
}

function Frames({ taskId, seq, binding, one }: FramesProps) {
  const resource = useResource(`frames ${taskId} ${seq}`, (signal) =>
    callAdmin('listTaskFrames', { params: { taskId }, query: { after: seq - 1, limit: 1 }, signal }),
  )
  if (resource.problem.value !== undefined) {
    return <ErrorNotice reason={resource.problem.value} retry={() => resource.reload()} />
  }
  const frames = resource.value.value?.events[0]?.frames.filter((frame) => frame.binding === binding)
  if (frames === undefined) return <Loading what="frames" />
  const marks = differencesByVersion(frames)
  return (
    <div class={one === undefined ? 'protocol-frames' : 'protocol-frames single'}>
      {versions.map((version) => {
        const frame = frames.find((made) => made.version === version)
        if (frame === undefined || (one !== undefined && one !== version)) return null
        return <FrameColumn key={version} frame={frame} marks={marks.get(version) ?? new Set()} />
      })}
    </div>
  )
}

function FrameColumn({ frame, marks }: { readonly frame: Frame; readonly marks: ReadonlySet<string> }) {
  const { version, payload, frame: raw } = frame
  const size = formatBytes(new Blob([raw]).size)
  return (
    <section class="protocol-frame" aria-label={`As clients of ${version} receive it`}>
      <header>
        <h3>A2A {version}</h3>
        <span class="faint cut grow">{marks.size === 0 ? 'Identical' : pluralize(marks.size, 'difference')}</span>
        <CopyButton text={raw} label={`Copy the frame of ${version}, ${size}`} class="plain small">
          Frame
        </CopyButton>
      </header>
      <div class="protocol-json">
        <JsonTreeView value={payload} open={9} changed={marks} />
      </div>
      <details>
        <summary>Bytes sent, {size}</summary>
        <pre tabIndex={0} aria-label={`Frame of ${version}`}>
          {raw}
        </pre>
      </details>
    </section>
  )
}
