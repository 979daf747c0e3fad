/** ListTasks: keyset pages, so that a page costs the same at the end of a long list as at its start. */
import { A2AError, invalidParams } from '../../model/error.ts'
import { taskBytes } from '../../model/json-nodes.ts'
import type { ListTasksRequest, ListTasksResponse } from '../../model/operation.ts'
import type { Task } from '../../model/task.ts'
import type { ListedTask, ListQuery, Partition, Store } from '../../stores/store.ts'
import type { CallContext, Signer } from '../contract.ts'
import { withHistory } from './fold.ts'

const defaultPageSize = 50
/**
 * A page of large tasks ends early: its token holds the start of the next one. A megabyte of JSON with as many values as fit takes
 * about 20 ms to write, and 16 MB held the event loop for a quarter of a second.
 */
const maxPageBytes = 1_000_000

export interface ListTasksDeps {
  readonly store: Store
  readonly signer: Signer
  view(row: ListedTask): Task | undefined | Promise<Task | undefined>
}

export async function listTasks(
  deps: ListTasksDeps,
  partition: Partition,
  request: ListTasksRequest,
  context: CallContext,
): Promise<ListTasksResponse> {
  if (!context.canListTasks) {
    throw new A2AError('PERMISSION_DENIED', 'Listing tasks requires authentication')
  }
  const pageSize = request.pageSize ?? defaultPageSize
  const filter = filterOf(partition, request)
  const before =
    request.pageToken === undefined || request.pageToken === '' ? undefined : await readToken(request.pageToken)
  const page = await deps.store.tasks.list({ ...filter, limit: pageSize, ...(before !== undefined ? { before } : {}) })
  const { tasks, last } = await readPage(page.tasks)
  const more = page.more || last !== page.tasks.at(-1)
  const nextPageToken = more && last !== undefined ? await writeToken(last.statusAt, last.id) : ''
  return { tasks, nextPageToken, pageSize, totalSize: page.total }

  /** The tasks of the rows, up to the size of a page, and the last row that was read. */
  async function readPage(rows: readonly ListedTask[]): Promise<{ tasks: Task[]; last: ListedTask | undefined }> {
    const tasks: Task[] = []
    let bytes = 0
    for (const row of rows) {
      // One after the other: those that the store did not read with the page may be large.
      const task = await deps.view(row)
      if (task === undefined) continue
      const shown = shapeTask(task, request)
      tasks.push(shown)
      bytes += taskBytes(shown)
      if (bytes >= maxPageBytes) return { tasks, last: row }
    }
    return { tasks, last: rows.at(-1) }
  }

  /** Bound to the filters and the owner: the token of one list is invalid for another. */
  function scope(): string {
    return JSON.stringify([
      filter.tenant,
      filter.agent,
      filter.owner,
      filter.contextId,
      filter.state,
      filter.statusAtOrAfter,
    ])
  }

  async function writeToken(statusAt: number, id: string): Promise<string> {
    const place = `${statusAt.toString(36)}.${id}`
    return `${place}.${await deps.signer.sign(pageTokenPurpose, `${place} ${scope()}`)}`
  }

  async function readToken(token: string): Promise<{ statusAt: number; id: string }> {
    const [at = '', id = '', ...signature] = token.split('.')
    const isOurs = await deps.signer.verify(pageTokenPurpose, `${at}.${id} ${scope()}`, signature.join('.'))
    if (!isOurs) throw invalidParams([{ field: 'pageToken', description: 'is not a token of this list' }])
    return { statusAt: Number.parseInt(at, 36), id }
  }
}

/** Also of the tokens of other lists. */
export const pageTokenPurpose = 'page'

function filterOf(partition: Partition, request: ListTasksRequest): Omit<ListQuery, 'limit'> {
  const { contextId, status, statusTimestampAfter } = request
  return {
    ...partition,
    ...(contextId !== undefined && contextId !== '' ? { contextId } : {}),
    ...(status !== undefined && status !== 'TASK_STATE_UNSPECIFIED' ? { state: status } : {}),
    ...(statusTimestampAfter !== undefined ? { statusAtOrAfter: Date.parse(statusTimestampAfter) } : {}),
  }
}

/** Omits the key without `includeArtifacts`; with it, the key is present even if empty (B-83, J-8). */
function shapeTask(task: Task, { historyLength, includeArtifacts }: ListTasksRequest): Task {
  const { artifacts, ...rest } = withHistory(task, historyLength)
  return includeArtifacts === true ? { ...rest, artifacts: artifacts ?? [] } : rest
}
