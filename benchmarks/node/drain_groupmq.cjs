// Drains no-op jobs from GroupMQ: node drain_groupmq.cjs FOLDER URL JOBS GROUPS CONCURRENCY
// FOLDER has groupmq and ioredis in its node_modules.
const { createRequire } = require("node:module");
const [folder, url, ...numbers] = process.argv.slice(2);
const [jobs, groups, concurrency] = numbers.map(Number);
const load = createRequire(`${folder}/`);
const { Queue, Worker } = load("groupmq");
const { Redis } = load("ioredis");

const payload = { x: "x".repeat(64) };
const AT_ONCE = 50;

async function main() {
  const redis = new Redis(url.replace("unix://", ""), { maxRetriesPerRequest: null });
  const queue = new Queue({ redis, namespace: "bench" });
  for (let first = 0; first < jobs; first += AT_ONCE) {
    const adding = [];
    for (let number = first; number < Math.min(first + AT_ONCE, jobs); number += 1) {
      adding.push(queue.add({ groupId: `g${number % groups}`, data: payload }));
    }
    await Promise.all(adding);
  }
  let done = 0;
  const worker = new Worker({
    queue,
    concurrency,
    handler: async () => {
      done += 1;
      if (done === jobs) {
        const elapsed = Number(process.hrtime.bigint() - began) / 1e9;
        console.log(JSON.stringify({ per_s: jobs / elapsed }));
        process.exit(0);
      }
    },
  });
  const began = process.hrtime.bigint();
  worker.run();
}

main();
