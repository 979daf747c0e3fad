/** Version selection, and how an agent is found and described. */
import { allVersions, decision, may, must, practice, should, v0_3, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const versioning: Section = {
  title: 'Versions',
  about: 'One endpoint answers 0.2, 0.3 and 1.0. The `A2A-Version` header selects the version.',
  rules: [
    may('B-2', v1, 'The version may be given as a query parameter. The header wins if both are given.'),
    must('B-3', v1, 'A missing or empty version means 0.3.'),
    must('B-4', v1, 'Only major and minor count: `1.0.7` is 1.0. Anything else is an unsupported version.'),
    must('B-5', v1, 'An unsupported version is refused, and the operation does not run.'),
    must('B-6', v1, 'The response has the shapes and the meaning of the requested version, also for errors.'),
    decision(
      'B-7',
      allVersions,
      'The error lists the supported versions, in the newest shape that the client could understand.',
    ),
    may('B-8', v1, 'One binding may be offered in several versions at one address; the card has one entry for each.'),
    should('B-9', v1, 'An application may pin the versions it supports; the others are refused.'),
    decision(
      'B-10',
      allVersions,
      'A version header always wins. Without one, the grammar of the JSON-RPC method decides (`message/send` is 0.x, `SendMessage` is 1.0); with `strict` a missing header means 0.3, as the text says.',
    ),
    decision(
      'B-11',
      allVersions,
      'REST under `/v1` is 0.3 unless the header says otherwise, and REST at the root is 1.0.',
    ),
    decision(
      'B-13',
      allVersions,
      'A task created through one version can be read, followed and canceled through every other.',
    ),
  ],
}

export const cards: Section = {
  title: 'Agent cards',
  about: 'The document that declares what an agent can do and where it is reached.',
  rules: [
    must(
      'B-14',
      allVersions,
      'The card is at `/.well-known/agent-card.json`, and for 0.2 clients at `/.well-known/agent.json`.',
    ),
    must('B-15', v1, 'The response is a card, as `application/json`, in the shape of the requested version.'),
    must('B-16', allVersions, 'Every listed interface is served, the preferred one first.'),
    must('B-17', v1, 'A client uses the first listed interface that it supports.'),
    must(
      'B-18',
      v0_3,
      'A client prefers the main url if it supports its transport, and never mixes the url of one entry with the transport of another.',
    ),
    must('B-19', v0_3, 'The preferred transport is declared and is the one of the main url.'),
    should('B-20', allVersions, 'A client falls back to another listed interface when its choice fails.'),
    should('B-21', v1, 'Cards may be cached: they carry `Cache-Control` with an age and an `ETag`.'),
    should('B-22', v1, 'A client with a cached card may revalidate it instead of fetching it again.'),
    decision(
      'B-23',
      v1,
      'A matching `If-None-Match` is answered 304. Each variant has its own ETag, and `Vary` names the header that chooses between them.',
    ),
    must('B-24', allVersions, 'Cards hold no secrets, and a card that is not public requires authentication.'),
    must('B-25', allVersions, 'In production the addresses are HTTPS: the card has the configured public url.'),
    decision(
      'B-26',
      allVersions,
      'A card without a required field is refused, and the error names the field; a card without interfaces is that of a peer with simple tasks (S0-4).',
    ),
    should('B-27', v1, 'Agents that share a host have one card each, at separate paths.'),
    practice(
      'B-28',
      allVersions,
      'The version of a card is recognised by its fields, so that one document can serve old and new clients.',
    ),
  ],
}

export const signatures: Section = {
  title: 'Signed cards',
  about: 'A card may carry signatures, which prove its author and that it was not changed.',
  rules: [
    may('B-29', v1, 'Cards may be signed: JWS with the payload detached, over the canonical form of the card.'),
    must(
      'B-30',
      v1,
      'The signature covers the fields of 1.0 without `signatures`, in canonical JSON (RFC 8785): required and explicitly set fields stay, all others are omitted at their default. Security schemes and requirements are among them.',
    ),
    must(
      'B-31',
      v1,
      'A verifier finds the key by `kid` among keys that it trusts, rebuilds the canonical form and checks it. The `jku` is trusted only if it has the origin of the card or is listed.',
    ),
    should(
      'B-32',
      v1,
      'One valid signature is enough, so that keys can be rotated. Keys come over HTTPS; expired or revoked keys, and algorithms without a public key, are ignored.',
    ),
    decision(
      'B-33',
      v1,
      'A client ignores signatures, warns or requires them. A card that was changed after it was signed is refused even with warnings only; one with an unknown key is unverified, not forged.',
    ),
    decision(
      'B-34',
      v1,
      'A changed card is signed again. The document for clients of all versions is signed by its 1.0 view, and an address taken from a request is never signed.',
    ),
  ],
}

export const extendedCard: Section = {
  title: 'Extended cards',
  about: 'A second card that only authenticated callers may read.',
  rules: [
    must(
      'B-136',
      allVersions,
      'An agent that does not declare an extended card refuses the operation; one that declares it and has none returns -32007.',
    ),
    must('B-137', allVersions, 'The extended card requires authentication.'),
    may('B-138', allVersions, 'It may differ per caller: each sees the skills that it may use.'),
    should('B-139', allVersions, 'A client replaces the public card with it.'),
    should('B-140', v1, 'It is marked as private to its reader.'),
  ],
}
