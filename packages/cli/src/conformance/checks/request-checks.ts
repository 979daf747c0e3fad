/** The checks of cards, versions, requests and tasks, without streams, webhooks and credentials. */
import type { Check } from '../check.ts'
import { cancelChecks } from './cancel.ts'
import { cardChecks } from './card.ts'
import { dataModelChecks } from './data-model.ts'
import { equivalenceChecks } from './equivalence.ts'
import { errorChecks } from './errors.ts'
import { getTaskChecks } from './get-task.ts'
import { honestyChecks } from './honesty.ts'
import { jsonRpcChecks } from './jsonrpc.ts'
import { listTasksChecks } from './list-tasks.ts'
import { restChecks } from './rest.ts'
import { sendChecks } from './send.ts'
import { validationChecks } from './validation.ts'
import { versionChecks } from './versions.ts'

export const requestChecks: readonly Check[] = [
  ...cardChecks,
  ...honestyChecks,
  ...versionChecks,
  ...jsonRpcChecks,
  ...errorChecks,
  ...restChecks,
  ...validationChecks,
  ...sendChecks,
  ...dataModelChecks,
  ...getTaskChecks,
  ...cancelChecks,
  ...listTasksChecks,
  ...equivalenceChecks,
]
