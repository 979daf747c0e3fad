/** One task: what it is, its time from beginning to end, and four views of it that share the event that is selected. */
import type { TaskDetail as Detail } from '../../api/admin.ts'
import { isProblem } from '../../api/problem.ts'
import { useKeys } from '../../app/keys.ts'
import { go } from '../../app/router.ts'
import { Icon } from '../../parts/icon.tsx'
import { isOver } from '../../parts/state.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Empty, Loading, Trouble } from '../../parts/trouble.tsx'
import { ConversationTab } from './conversation-tab.tsx'
import { EventsTab } from './events-tab.tsx'
import { TaskHead } from './task-head.tsx'
import type { TaskLog } from './task-log.ts'
import { useTaskLog } from './task-log.ts'
import { listHref, openTab, selectedSeq, selectEvent, tabHref, taskTabs } from './task-places.ts'
import type { TaskTab } from './task-places.ts'
import { indexOfSeq } from './time-axis.ts'
import { Timeline } from './timeline.tsx'
import { TraceTab } from './trace-tab.tsx'
import { useReplay } from './use-replay.ts'
import { useTask } from './use-task.ts'
import { WireTab } from './wire-tab.tsx'
import './task-detail.css'

export function TaskDetail({ id, tab }: { readonly id: string; readonly tab: TaskTab }) {
  const { detail, problem, reload } = useTask(id)
  const log = useTaskLog(id)
  useKeys([
    {
      key: 'Escape',
      does: 'Back: from the event to the task, from the task to the list',
      run: () => (selectedSeq() === undefined ? go(listHref()) : selectEvent(undefined)),
    },
  ])
  if (detail === undefined) {
    if (isProblem(problem, 'NOT_FOUND')) {
      return (
        <Empty title="There is no such task">
          <p>It may have been removed: finished tasks are kept for as long as the configuration says.</p>
          <a class="button" href={listHref()}>
            Back to the list
          </a>
        </Empty>
      )
    }
    return problem === undefined ? <Loading what="the task" /> : <Trouble reason={problem} retry={reload} />
  }
  return <Opened detail={detail} log={log} tab={tab} />
}

const labels: Readonly<Record<TaskTab, string>> = {
  conversation: 'Conversation',
  events: 'Events',
  wire: 'Wire',
  trace: 'Trace',
}

function Opened({ detail, log, tab }: { readonly detail: Detail; readonly log: TaskLog; readonly tab: TaskTab }) {
  const { id, state } = detail
  const events = log.events.value
  const replay = useReplay(events)
  const canReplay = log.isFromStart.value && log.isWhole.value && events.length > 0

  function play(): void {
    if (!canReplay) return
    if (tab !== 'conversation') openTab(id, 'conversation')
    if (replay.isPlaying) replay.pause()
    else replay.play()
  }

  function moveEvent(by: number): void {
    const at = indexOfSeq(events, selectedSeq() ?? (by > 0 ? -1 : Number.POSITIVE_INFINITY))
    const next = events[selectedSeq() === undefined && by < 0 ? at : at + by]
    if (next !== undefined) selectEvent(next.seq)
  }

  useKeys([
    { key: 'r', does: 'Replay from the selected event, or pause', run: play },
    { key: '.', does: 'Next event', run: () => moveEvent(1) },
    { key: ',', does: 'Previous event', run: () => moveEvent(-1) },
  ])

  return (
    <div class="task-detail">
      <TaskHead detail={detail} log={log} />
      <div class="task-time">
        <button
          type="button"
          class="icon small"
          disabled={!canReplay}
          aria-label={replay.isPlaying ? 'Pause the replay' : 'Replay'}
          title={canReplay ? 'Replay (r)' : 'The beginning of the log was dropped'}
          onClick={play}
        >
          <Icon name={replay.isPlaying ? 'stop' : 'play'} size={14} />
        </button>
        <Timeline events={events} isRunning={!isOver(state)} seq={replay.seq} onSelect={selectEvent} />
      </div>
      <Tabs
        label="Views of the task"
        open={tab}
        tabs={taskTabs.map((one) => ({
          id: one,
          label: labels[one],
          href: tabHref(id, one),
          ...(one === 'events' ? { count: detail.head } : {}),
        }))}
      />
      {log.problem.value !== undefined && <Trouble reason={log.problem.value} retry={log.retry} />}
      {tab === 'conversation' && <ConversationTab detail={detail} log={log} replay={replay} />}
      {tab === 'events' && <EventsTab detail={detail} log={log} />}
      {tab === 'wire' && <WireTab taskId={id} log={log} />}
      {tab === 'trace' && <TraceTab detail={detail} log={log} />}
    </div>
  )
}
