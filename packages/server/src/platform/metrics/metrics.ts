import type { RequestListener } from 'node:http'
import type { Attributes, Counter, Histogram } from '@opentelemetry/api'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'

/** The values of a gauge, one for each set of attributes. */
export type Readings = Iterable<[value: number, attributes?: Attributes]>

export interface Metrics {
  /** Seconds of each statement, by name and database. */
  statements: Histogram
  /** Seconds of each request, by operation, method and status. */
  requests: Histogram
  /** Events that got their positions, by cell. */
  events: Counter
  /** Runs of jobs that ended, by job, outcome and cell. */
  jobs: Counter
  /** Seconds that jobs waited for a runner after they were due, by job and cell. */
  jobWaits: Histogram
  /** Adds a histogram of seconds. */
  times(name: string, description: string): Histogram
  /** Adds a histogram of sizes, such as the items of a batch. */
  sizes(name: string, description: string): Histogram
  /** Adds a counter. */
  counter(name: string, description: string): Counter
  /** Adds a gauge that is read on every scrape. */
  gauge(name: string, description: string, read: () => Readings | Promise<Readings>): void
  /** Serves the metrics in Prometheus' text format. */
  handler: RequestListener
  close(): Promise<void>
}

const SIZES = [1, 2, 4, 8, 16, 32, 64]
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function openMetrics(): Metrics {
  const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true })
  const provider = new MeterProvider({ readers: [exporter] })
  const meter = provider.getMeter('loquat')
  const times = (name: string, description: string) =>
    meter.createHistogram(name, {
      description,
      unit: 's',
      advice: { explicitBucketBoundaries: SECONDS },
    })
  return {
    statements: times(
      'loquat_db_statement_seconds',
      'Duration of SQL statements as the service sees them, by name and database.',
    ),
    requests: times(
      'loquat_http_request_seconds',
      'Duration of requests, from arrival to response.',
    ),
    events: meter.createCounter('loquat_events_total', {
      description: 'Events to which this process assigned positions, by cell.',
    }),
    jobs: meter.createCounter('loquat_job_runs_total', {
      description: 'Runs of background jobs that ended in this process, by job, outcome and cell.',
    }),
    jobWaits: times(
      'loquat_job_wait_seconds',
      'Time between the moment when a background job was due and its start.',
    ),
    times,
    sizes: (name, description) =>
      meter.createHistogram(name, {
        description,
        advice: { explicitBucketBoundaries: SIZES },
      }),
    counter: (name, description) => meter.createCounter(name, { description }),
    gauge(name, description, read) {
      meter.createObservableGauge(name, { description }).addCallback(async (result) => {
        for (const [value, attributes] of await read()) result.observe(value, attributes)
      })
    },
    handler: (request, response) => exporter.getMetricsRequestHandler(request, response),
    close: () => provider.shutdown(),
  }
}
