/** The facts and the actions of a task. */
import type { TaskDetail } from '../../../api/admin.ts'
import { callAdmin, adminPath } from '../../../api/admin-client.ts'
import { usePaletteActions } from '../../../app/palette-state.ts'
import { navigate, query, setQuery } from '../../../app/router.ts'
import { ConfirmButton } from '../../../components/layout/confirm-button.tsx'
import { CopyButton, copyText, CopyableId } from '../../../components/content/copy-button.tsx'
import { Icon } from '../../../components/icon.tsx'
import { useDocumentTitle } from '../../../components/layout/document-title.ts'
import { Menu } from '../../../components/layout/menu.tsx'
import { BackLink, Fact } from '../../../components/layout/page-head.tsx'
import { isTerminalState, TaskStateBadge } from '../../../components/status/task-state.tsx'
import { currentTaskTimes, exactTimesText } from '../../../components/status/task-time.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import { formatDuration } from '../../../components/format.ts'
import { adminCurl } from '../../../components/shell/curl.ts'
import { canExportTest, exportTaskTest, exportTaskJson } from './export-task.ts'
import { ResendTask } from './resend-task.tsx'
import type { TaskLog } from './task-log.ts'
import { listHref, taskPlaygroundHref } from '../task-links.ts'
import { taskTitle } from '../list/task-row.tsx'
import { TaskFailure } from './task-failure.tsx'

export function TaskHead({ detail, log }: { readonly detail: TaskDetail; readonly log: TaskLog }) {
  const { id, state } = detail
  useDocumentTitle('item', taskTitle(detail))
  const curl = (): string => adminCurl(location.origin, adminPath('getTask', { params: { taskId: id } }))
  const playground = taskPlaygroundHref(detail)
  usePaletteActions([
    { title: 'Open this task in the playground', run: () => navigate(playground) },
    { title: 'Export this task as JSON', run: () => void exportTaskJson(detail) },
    { title: 'Export this task as a test', run: () => void exportTaskTest(detail, log) },
    { title: 'Copy this task as curl', run: () => void copyText(curl()) },
  ])
  return (
    <>
      <header class="bar task-head">
        <BackLink to={listHref()} />
        <TaskStateBadge state={state} />
        <h2 class="cut" dir="auto" title={taskTitle(detail)}>
          {taskTitle(detail)}
        </h2>
        {!isTerminalState(state) && (
          <ConfirmButton
            label="Cancel"
            question="Cancel this task?"
            class="small"
            onConfirm={async () => void (await callAdmin('cancelTask', { params: { taskId: id } }))}
          >
            The agent is asked to stop. A canceled task cannot be resumed.
          </ConfirmButton>
        )}
        <Menu label="Resend" class="small" side="right">
          {() => <ResendTask detail={detail} />}
        </Menu>
        <Menu label="Export" class="small" side="right">
          {(close) => <ExportChoice detail={detail} log={log} close={close} />}
        </Menu>
        <Menu label="More actions" icon="more" class="small" side="right" isIconOnly>
          {() => (
            <>
              <a class="button plain" href={playground}>
                <Icon name="playground" size={14} /> Open in playground
              </a>
              <CopyButton text={curl} label="Copy task as curl" class="plain">
                Copy as curl
              </CopyButton>
              <HideList />
            </>
          )}
        </Menu>
      </header>
      <TaskFacts detail={detail} />
      <TaskFailure detail={detail} />
    </>
  )
}

/** Two columns of frames need the full width. */
function HideList() {
  const isOff = query.value.get('list') === 'off'
  return (
    <button type="button" class="plain" onClick={() => setQuery({ list: isOff ? undefined : 'off' })}>
      <Icon name="tasks" size={14} /> {isOff ? 'Show list' : 'Hide list'}
    </button>
  )
}

interface ExportProps {
  readonly detail: TaskDetail
  readonly log: TaskLog
  readonly close: () => void
}

function ExportChoice({ detail, log, close }: ExportProps) {
  const isSettled = canExportTest(detail)
  const run = (exported: Promise<void>): void => {
    void exported
    close()
  }
  return (
    <>
      <button type="button" class="plain" onClick={() => run(exportTaskJson(detail))}>
        <Icon name="braces" size={14} /> As JSON, with events
      </button>
      <button
        type="button"
        class="plain"
        disabled={!isSettled}
        title={isSettled ? undefined : 'The task has no answer yet'}
        onClick={() => run(exportTaskTest(detail, log))}
      >
        <Icon name="check" size={14} /> As a test for node:test
      </button>
    </>
  )
}

function TaskFacts({ detail }: { readonly detail: TaskDetail }) {
  const { id, agent, caller, callerName = caller, contextId, createdAt, push } = detail
  return (
    <dl class="task-facts">
      <Fact name="Agent">
        <a href={`/agents/${encodeURIComponent(agent)}`}>{agent}</a>
      </Fact>
      <Fact name="Caller" title={caller}>
        <a href={`/tasks?caller=${encodeURIComponent(caller)}`}>{callerName}</a>
      </Fact>
      <Fact name="Created">
        <RelativeTime at={createdAt} />
      </Fact>
      <TimeFacts detail={detail} />
      <Fact name="Task">
        <CopyableId id={id} what="task id" />
      </Fact>
      <Fact name="Context">
        <CopyableId id={contextId} what="context id" href={`/tasks?context=${encodeURIComponent(contextId)}`} />
      </Fact>
      {push.length > 0 && (
        <Fact name={push.length === 1 ? 'Webhook' : `${push.length} webhooks`}>
          {push.map(({ configId, url, state }) => (
            <a
              key={configId}
              class="task-webhook"
              href={`/webhooks/${encodeURIComponent(id)}/${encodeURIComponent(configId)}`}
            >
              {hostOf(url)} {state === 'active' ? '' : state}
            </a>
          ))}
        </Fact>
      )}
    </dl>
  )
}

/** One duration; if the task waited for its caller, the working time apart from the waiting time. */
function TimeFacts({ detail }: { readonly detail: TaskDetail }) {
  const times = currentTaskTimes(detail)
  const { workingMs, waitingMs, totalMs } = times
  if (waitingMs === 0) return <Fact name="Duration">{formatDuration(totalMs)}</Fact>
  return (
    <>
      <Fact name="Working" title={exactTimesText(times)}>
        {formatDuration(workingMs)}
      </Fact>
      <Fact name="Waiting" title={exactTimesText(times)}>
        <span class="task-waited">{formatDuration(waitingMs)}</span>
      </Fact>
    </>
  )
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
