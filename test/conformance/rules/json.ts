/** How values are spelled in JSON. */
import { allVersions, decision, must, practice, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const json: Section = {
  title: 'JSON',
  about: 'How 1.0 spells its values. Readers are lenient where peers differ; writers are strict.',
  rules: [
    must(
      'J-1',
      v1,
      'Field names are written in lowerCamelCase. The snake_case names of the protocol buffers are understood when read and never written.',
    ),
    must(
      'J-2',
      v1,
      'States and roles are written by their full name (`TASK_STATE_WORKING`, `ROLE_USER`). A name that does not exist is an invalid parameter; the unspecified value is never written on purpose.',
    ),
    must(
      'J-3',
      v1,
      'Times are written in UTC with milliseconds and a `Z`. Offsets, a missing zone and up to nine digits of a second are read and normalised.',
    ),
    must(
      'J-4',
      v1,
      'Bytes are base64 with padding when written; the URL-safe alphabet and missing padding are read too.',
    ),
    practice('J-5', v1, 'Metadata is a JSON object and a data part is any JSON value; numbers are doubles.'),
    must(
      'J-6',
      v1,
      '`null` means "not set" everywhere except as the value of a data part, where it is a value: a part is recognised by its key, not by the value.',
    ),
    practice(
      'J-7',
      v1,
      'Fields at their default may be missing: a reader fills in `false`, an empty string or an empty list.',
    ),
    must(
      'J-8',
      v1,
      'A page of tasks always has its four fields, with an empty `nextPageToken` on the last page; and with `includeArtifacts` every task has `artifacts`, possibly an empty list.',
    ),
    should(
      'J-9',
      v1,
      'A request without a required field is refused with invalid parameters. Parts of a message or an artifact must not be empty.',
    ),
    should('J-10', v1, 'Unknown fields are ignored and not forwarded.'),
    practice(
      'J-11',
      v1,
      'Integers are JSON numbers; decimal strings are read too, because query parameters are strings.',
    ),
    decision(
      'J-12',
      allVersions,
      'Where exactly one of several members may be set, two of them are an invalid parameter.',
    ),
  ],
}
