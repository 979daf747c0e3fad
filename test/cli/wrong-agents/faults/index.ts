/** Every fault, by the check that finds it. */
import { authFaults, pushFaults } from './push-faults.ts'
import { cardFaults } from './card-faults.ts'
import { messageFaults } from './message-faults.ts'
import { requestFaults } from './request-faults.ts'
import { streamFaults } from './stream-faults.ts'
import { taskFaults } from './task-faults.ts'
import type { Fault } from '../fault.ts'

export const faults: readonly Fault[] = [
  ...cardFaults,
  ...requestFaults,
  ...messageFaults,
  ...taskFaults,
  ...streamFaults,
  ...pushFaults,
  ...authFaults,
]
