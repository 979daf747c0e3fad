/** What an agent does not offer is refused: webhooks, an extended card, media types; and what it declares is confirmed. */
import assert from 'node:assert/strict'
import type { Operation, RequestOf } from '../../../packages/a2a/src/model/operation.ts'
