// Wakes a parked worker of GroupMQ: node wake_groupmq.cjs FOLDER URL JOBS
const { createRequire } = require("node:module");
const { had, isWorker, ready, wake } = require("./waking.cjs");
const [folder, url, jobs] = process.argv.slice(2);
const load = createRequire(`${folder}/`);
const { Queue, Worker } = load("groupmq");
const { Redis } = load("ioredis");

const redis = new Redis(url.replace("unix://", ""), { maxRetriesPerRequest: null });
const queue = new Queue({ redis, namespace: "bench" });
if (isWorker()) {
  new Worker({ queue, concurrency: 8, handler: async (job) => had(job.data.at) }).run();
  ready();
} else {
  wake((at) => queue.add({ groupId: "g1", data: { at } }), Number(jobs));
}
