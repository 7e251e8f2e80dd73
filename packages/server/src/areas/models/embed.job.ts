import { Type } from 'typebox'
import { EMBEDDED_AT_ONCE } from '../../core/models/adapter.ts'
import { packed } from '../../core/models/vectors.ts'
import { sweepAll } from '../../core/sweep.ts'
import { defineJob } from '../../deps.ts'
import { query } from '../../platform/db/query.ts'
import { Postponed } from '../../platform/jobs/definition.ts'
import { embedWithin, findEmbedder, vectorsIdOf } from './embedder.actions.ts'
import { findEmbedding } from './queries.ts'

const TIMEOUT_MS = 60_000
/** A provider may be down for some hours. */
const TRIES = 20
/** How often to look whether the app may spend tokens again. */
const EXHAUSTED_MS = 3_600_000
/** How many sources are looked at together. */
const SOURCES = 500

/** Whether a chunk has no vector of the model. A lookup by key for each chunk, never a join with all vectors. */
const LACKS_VECTOR = `(
  select v.model from knowledge_vectors v where v.app_no = c.app_no and v.chunk_id = c.chunk_id) is distinct from :model`

/** What is embedded of a chunk. */
const TEXT = `concat_ws(E'\\n', coalesce(p.title, s.title), nullif(c.heading, ''), c.text)`
const WITH_TITLES = `join knowledge_sources s on s.app_no = c.app_no and s.source_id = c.source_id
   left join knowledge_pages p on p.app_no = c.app_no and p.source_id = c.source_id and p.page_id = c.page_id`

/** Chunks of a source after one that the model hasn't embedded. */
export const listUnembedded = query<
  { appNo: number; sourceId: string; model: string; after: number; limit: number },
  { chunk_id: string; no: number; text: string }
>(
  'models.listUnembedded',
  `select c.chunk_id, c.no, ${TEXT} as text
   from knowledge_chunks c ${WITH_TITLES}
   where c.app_no = :appNo and c.source_id = :sourceId::uuid and c.no > :after
     and (c.page_id is null or p.chunks > 0) and ${LACKS_VECTOR}
   order by c.no limit :limit`,
)

/** Of chunks that still exist, and whose title is still that which was embedded. */
export const storeVectors = query<{
  appNo: number
  model: string
  dimensions: number
  ids: string[]
  texts: string[]
  vectors: Buffer[]
}>(
  'models.storeVectors',
  `insert into knowledge_vectors (app_no, chunk_id, model, dimensions, vector)
   select c.app_no, c.chunk_id, :model, :dimensions, e.vector
   from unnest(:ids::uuid[], :texts::text[], :vectors::bytea[]) e (id, text, vector)
   join knowledge_chunks c on c.app_no = :appNo and c.chunk_id = e.id ${WITH_TITLES}
   where ${TEXT} = e.text
   on conflict (app_no, chunk_id) do update set model = excluded.model, dimensions = excluded.dimensions,
     vector = excluded.vector`,
)

/**
 * Embeds the chunks of a source that have no vector of the app's model. Each run begins with the first chunk: while a job
 * waits for its next try, chunks that it has already embedded may lose their vectors.
 */
export const embedJob = defineJob({
  name: 'models.embed',
  summary: 'Embeds a source of knowledge for agents.',
  input: Type.Object({ sourceId: Type.String() }),
  checkpoint: Type.Object({}),
  tries: TRIES,
  async run({ appNo, input: { sourceId }, checkpoint, signal, context: { deps, cell } }) {
    for (let [after, limit] = [-1, EMBEDDED_AT_ONCE]; ; ) {
      const embedder = await findEmbedder(deps, cell.db, appNo, { timeoutMs: TIMEOUT_MS, signal })
      if (!embedder) return
      const { id: model } = embedder
      const wanted = { appNo, sourceId, model, after, limit }
      const chunks = await listUnembedded.many(cell.db, wanted)
      const last = chunks.at(-1)
      if (!last) return
      const texts = chunks.map(({ text }) => text)
      const vectors = await embedWithin(cell.db, appNo, embedder, texts)
      if (!vectors) {
        // Fewer chunks may fit into what is left of the month.
        if (texts.length === 1) throw new Postponed(EXHAUSTED_MS)
        limit = Math.ceil(texts.length / 2)
        continue
      }
      after = last.no
      await checkpoint(async (tx) => {
        await storeVectors.run(tx, {
          ...{ appNo, model, dimensions: vectors[0]?.length ?? 0, texts },
          ...{ ids: chunks.map(({ chunk_id: id }) => id), vectors: vectors.map(packed) },
        })
        return {}
      })
    }
  },
})

/** Sources after one, and whether a chunk of theirs lacks a vector of the model. */
const listSources = query<
  { appNo: number; model: string; after: string | null; limit: number },
  { source_id: string; lacks: boolean }
>(
  'models.listSources',
  `select s.source_id, exists (
     select from knowledge_chunks c where c.app_no = s.app_no and c.source_id = s.source_id and ${LACKS_VECTOR}) as lacks
   from knowledge_sources s
   where s.app_no = :appNo and s.chunks > 0 and (:after::uuid is null or s.source_id > :after::uuid)
   order by s.source_id limit :limit`,
)

/** A job that waits because the provider has failed starts at once. */
const startSource = query<{ appNo: number; name: string; id: string }>(
  'models.startSource',
  `select wake_job(:appNo::int, enqueue_job(:appNo::int, :name, jsonb_build_object('sourceId', :id::text),
     p_priority => -1, p_dedupe_key => :id::text))`,
)

/** Vectors of an app that has no model any more. */
const removeVectors = query<{ appNo: number; limit: number }, { gone: boolean }>(
  'models.removeVectors',
  `with removed as (
     delete from knowledge_vectors where ctid = any (array(
       select ctid from knowledge_vectors where app_no = :appNo limit :limit))
     returning 1
   )
   select count(*) < :limit as gone from removed`,
)

/** Starts a job for each source that needs one. If the app has no model any more, its vectors are deleted. */
export const embedAllJob = defineJob({
  name: 'models.embedAll',
  summary: 'Embeds all sources of knowledge of an app, if it has a model for that.',
  input: Type.Object({}),
  async run(run) {
    const { appNo, signal } = run
    const { db } = run.context.cell
    const provider = await findEmbedding.maybeOne(db, { appNo })
    if (!provider) {
      const remove = (limit: number) => db.call((tx) => removeVectors.one(tx, { appNo, limit }))
      return sweepAll(run, remove)
    }
    const model = vectorsIdOf(provider)
    for (let after: string | null = null; ; ) {
      signal.throwIfAborted()
      const sources = await listSources.many(db, { appNo, model, after, limit: SOURCES })
      // Each on its own: jobs that end meanwhile are locked in another order.
      for (const { source_id: id, lacks } of sources) {
        if (lacks)
          await db.call((tx) => startSource.run(tx, { appNo, name: embedJob.name, id }), true)
      }
      if (sources.length < SOURCES) return
      after = sources.at(-1)?.source_id ?? null
    }
  },
})
