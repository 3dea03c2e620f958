//! The seats of a council, and what is planted for each: in its own words, and in quite other ones.

/// What the council is asked.
pub(crate) const QUESTION: &str = "Should we move the customer database to the new cluster this quarter, considering \
                                   cost, latency and the auth migration?";

/// Paraphrases of each seat that the search was tuned on.
pub(crate) const TUNED: usize = 3;

pub(crate) struct SeatPlants {
    pub(crate) seat: &'static str,
    pub(crate) focus: &'static str,
    /// With commas between them.
    pub(crate) lexicon: &'static str,
    /// With words of the seat and of the question.
    pub(crate) lexical: [&'static str; 3],
    /// With hardly any of them. The search was tuned on the first three, with an eye on the others.
    pub(crate) paraphrased: [&'static str; 2 * TUNED],
    /// Paraphrases by someone who knew nothing of the search, and that nothing was tuned on.
    pub(crate) fresh: [&'static str; 5],
}

pub(crate) const SEATS: [SeatPlants; 9] = [
    SeatPlants {
        seat: "IT/security",
        focus: "Who may do what: sign-in, permissions, secrets, encryption, attacks and what the law asks for.",
        lexicon: "security, auth, authentication, authorization, login, password, credential, secret, token, certificate, encryption, vulnerability, breach, attack, compliance",
        lexical: [
            "The auth migration is not finished: nine services still reach the customer database with one shared password. \
             If the database moves to the new cluster before every service has its own credential, a single leaked secret \
             opens all customer data. Security asks for the login change first, and for encryption between the nodes.",
            "On the new cluster the customer database accepts tokens from the new authentication service only. The old \
             certificates run out in November, so authorization has to be tested before the move. The penetration test \
             found one open vulnerability in the admin login, rated medium, with a fix planned for this quarter.",
            "Compliance requires that customer data is encrypted at rest. The new cluster does this by default, the present \
             database does not. The security review of the move is positive on the condition that the auth migration ends \
             first and that credentials of former staff are revoked.",
        ],
        paraphrased: [
            "Whoever works with our clients' records today gets in through one common key that dozens of people know. On \
             the machines they are to be relocated to, each person would have to identify themselves. Until that is in \
             place, an intruder who gets hold of the key could read everything we hold about the people who buy from us.",
            "The hosts we want to relocate the records of our buyers to keep them scrambled on the drives, so a thief who \
             carries one away sees nothing. The old ones do not. What worries us is the time in between, when the gate \
             that checks people's identity is being replaced and nobody can say for certain who was let in.",
            "Two former employees can still get into the system that holds our clients' personal details, because nobody \
             took their rights away. If those details are carried over to the other machines as they are, the hole is \
             carried over too. Hackers look for exactly such forgotten doors.",
            "Nobody has gone through the list of those who are allowed to look at our clients' files for three years. \
             If the files are carried over to the other machines with that list, trainees will be able to read bank \
             details there as they are here. It ought to be checked name by name before anything is copied.",
            "While our buyers' records travel between the two halls, anyone with a laptop on the same line could read \
             along, because nothing on the way is made unreadable. The people who watch over the safety of our systems \
             will only agree once the line is protected. They also want to know who keeps the keys.",
            "The way in which our staff prove who they are is about to be replaced, and the system with the clients' \
             records depends on the old way. Relocating it first would mean leaving a side entrance open for weeks. \
             Last year strangers got in through just such an entrance at one of our suppliers.",
        ],
        fresh: [
            "Once the consumer files sit in the new environment, staff will sign in through the group's single \
             identity service. Eleven shared admin accounts have no named owner and would lose access on that \
             day. Each needs a person assigned to it and its rights cut down beforehand.",
            "Penetration testers got into two of the hosts that are to hold our account holders' details. They \
             climbed from an ordinary operator's rights to full root through an unpatched agent. Until that hole \
             is closed, personal information ought not to be copied across.",
            "The privacy officer notes that the target machines are run by a processor outside the EU. Under the \
             GDPR we need a signed processing agreement and an impact assessment before our buyers' personal \
             details are transferred there. Neither paper exists so far, and the regulator may impose fines.",
            "Today the subscriber records lie scrambled on disk with keys held in our own vault. The new platform \
             comes with vendor-managed keys, so the supplier's engineers could read names and card numbers. \
             Bringing our own keys is possible but must be switched on before the first row is copied.",
            "Fourteen in-house programs still reach the client master file with hard-coded passphrases. After the \
             relocation those will be refused, since the new hosts accept only short-lived identities issued per \
             program. Rewriting the code also rids us of keys that former employees still know.",
        ],
    },
    SeatPlants {
        seat: "IT/infrastructure",
        focus: "Machines and platforms: servers, clusters, capacity, storage, availability and their operation.",
        lexicon: "infrastructure, server, cluster, node, capacity, hardware, cpu, memory, disk, storage, kubernetes, availability, failover, uptime",
        lexical: [
            "The new cluster has twelve nodes with 512 GB of memory each, of which the customer database would take a third. \
             Failover between the nodes was tried in August and took eleven seconds. Capacity is sufficient for two years, \
             provided that the reporting servers stay where they are.",
            "Two disks of the server that holds the customer database failed this quarter, and the hardware is out of \
             warranty. The new cluster keeps three copies on separate storage, so availability would rise. Infrastructure \
             recommends the move before the winter peak.",
            "Moving the customer database needs 40 TB of storage on the new cluster, and only 31 TB are free until the next \
             nodes arrive. Without them the cluster would run at 92 per cent of its capacity, too much for a safe failover \
             when one node is down.",
        ],
        paraphrased: [
            "The old boxes that keep our clients' records are at the end of their lives; spare parts come from auctions. \
             Their successors in the basement would carry on even if one of them broke down, because each is able to take \
             over from its neighbour within seconds. There is enough room on them for what we hold.",
            "If the records of our buyers go to the recently bought machines, these will be almost full by spring. Should one \
             of them break, the others could not carry its load as well. Four more are on order, but the supplier speaks \
             of fourteen weeks.",
            "During the trial, one of the recently installed computers was switched off on purpose while client records were \
             being written. The rest went on without losing anything. The machine we use at present would have stood \
             still until a technician came.",
            "The computers on which our clients' records live at present are eight years old, and their maker has \
             stopped repairing them. The ones that stand ready beside them are four times as fast and share the work \
             among themselves. One technician can look after all of them.",
            "We counted how much room our buyers' files take up and how much is left on the recently installed \
             computers. It fits, but only until next summer, as the photographs grow faster than anything else. After \
             that another row of computers would have to be bought.",
            "In July the air conditioning in the old computer room broke down, and the system with the clients' records \
             was gone for a whole afternoon. The other room has two cooling plants and its own generator. A second copy \
             would run there at all times and step in by itself.",
        ],
        fresh: [
            "The eight new machines were sized for the shop catalogue alone. With our buyers' records added on \
             top, RAM would be filled to 91 percent at the Monday peak, leaving no headroom if one host dies. Two \
             more blades would have to be bought, racked and burnt in first.",
            "The boxes on which the register of buyers lives today are seven years old, and the maker stops \
             supplying spare parts in March. Three power units and a RAID controller have failed since spring. \
             Shifting everything over to the new rack, which is still under warranty, would end that worry.",
            "In the trial the new platform lost one machine on purpose and the client master file was back within \
             forty seconds on a sibling host. The present pair needs an engineer to switch by hand, which took 52 \
             minutes last time. That is a strong reason to relocate it.",
            "The SSD pool behind the new hosts has 14 TB free, while the subscriber files take up 11 TB and grow \
             by 300 GB a month. The volumes would thus be full before the end of next year. The platform team \
             asks for another shelf of drives before those files are brought across.",
            "Nobody on the night crew has yet operated the container platform to which our shoppers' records are \
             to go. Patching the hosts and swapping out a broken machine are still done by the two engineers who \
             built it. Running our most important system there with so few hands is risky.",
        ],
    },
    SeatPlants {
        seat: "IT/network",
        focus: "Connections: latency, bandwidth, routing, firewalls, name resolution and the way between sites.",
        lexicon: "network, latency, bandwidth, throughput, routing, router, firewall, dns, vpn, subnet, packet, proxy, connection",
        lexical: [
            "From the shops to the new cluster a packet takes 19 milliseconds, against 6 to the present customer database. \
             The latency comes from the routing through the second data centre. With a direct connection it would fall to \
             8, and the network team can have that ready this quarter.",
            "The firewall in front of the new cluster allows 2,000 connections at once, while the customer database sees \
             3,400 at peak. Before the move the network team must raise that limit, and reserve bandwidth for the first \
             copy, or throughput of the shops will suffer.",
            "The customer database is reached by its DNS name from 60 applications, and by its address from five. Those five \
             have to change before it moves to the new cluster, whose subnet is another. The measured latency in the new \
             network is 3 milliseconds lower for the web shop.",
        ],
        paraphrased: [
            "A request from a branch office needs three times as long to reach the recently installed machines as it does to \
             reach the old ones, because it makes a detour through another town. Where one page asks for our clients' \
             records thirty times, people would notice the delay. A line of our own would cure that.",
            "Copying the records of all our buyers across the line between the two buildings would fill it for four days, \
             and the telephones use the same line. It ought to be done at weekends, or over a second cable that is already \
             in the ground but not lit.",
            "Five of our programs still have the numeric address of the machine with the client records built in. After the \
             relocation they would call a machine that no longer answers. The filter between the two buildings has to be \
             opened for them as well, or their calls will be turned away.",
            "Our shops in the north hang on a thin line that is busy from morning to night. Were the clients' records \
             to live in the other building, every look at them would have to squeeze through that line. Either it is \
             widened, or the tills will crawl.",
            "Between the web shop and the machine with our buyers' files there are two hops today; there would be five \
             after the relocation. Each of them adds a little waiting. The engineers measured that a page would take \
             half a second longer to appear.",
            "The computers we want to relocate our clients' records to sit behind a gate that lets through only what is \
             on its list. Forty programs of ours are not on that list, and seven partners call from outside. Unless all \
             are entered beforehand, they will knock in vain.",
        ],
        fresh: [
            "From the branch in Porto, a ping to the hall with the new machines takes 38 milliseconds there and \
             back instead of 6. The till program asks for the buyer's record nine times per sale. If that record \
             is relocated, cashiers wait a third of a second longer for each receipt.",
            "The fibre between both halls carries one gigabit per second and is two thirds full by day. Copying \
             all of the account holders' records over to the new hosts would saturate the line for about thirty \
             hours. The carrier can lift the link to ten gigabits within six weeks.",
            "Forty-one applications have the IP address of the old client master written into their settings. \
             After the relocation the new hosts answer under another address, and those callers will run into a \
             timeout. An alias for the hostname would let us repoint them in one place.",
            "The freshly built rack sits in a separate zone, and port 5432 is blocked from the office range. \
             Unless a path is opened, the billing program and the web shop cannot reach the shoppers' profiles \
             once they have been relocated there. Changes to the filter rules take ten working days.",
            "We traced who calls the client master: the call centre's software alone holds 600 sockets open all \
             day. On the new hosts each request crosses two additional hops and a load balancer that cuts idle \
             sockets after five minutes. Keepalives have to be turned on before the switch.",
        ],
    },
    SeatPlants {
        seat: "Data/schema",
        focus: "How data is modelled: tables, columns, types, keys, constraints and what a change of them breaks.",
        lexicon: "schema, table, column, index, key, constraint, type, model, relation, normalization, query, view",
        lexical: [
            "The schema of the customer database has 214 tables, and 17 of them use a column type that the new cluster does \
             not know. They must be changed before the move. Three foreign key constraints are violated by old customer \
             rows, which the new database would refuse.",
            "On the new cluster a table is split by the customer key. Queries that join orders with customers by another \
             column would touch every node; four views do so. With an index on the order table the same query takes 30 \
             milliseconds, measured this quarter.",
            "The auth migration adds two columns to the customer table and removes one. If it runs after the database has \
             moved to the new cluster, the schema has to be changed twice. The data model team prefers one change, before \
             the move.",
        ],
        paraphrased: [
            "Some of the fields in which we write down our clients' birthdays and sums of money do not exist in that form on \
             the system we want to go to. They would have to be rewritten one by one. A few thousand old entries point to \
             people who are no longer there, and the new system would not accept such entries.",
            "The way our clients' records are laid out assumes that everything lies on one machine. Spread over many, a list \
             of everything one person has bought would have to be gathered from all of them. Arranging the entries by \
             person instead of by date would avoid this.",
            "Before our clients' records are relocated, the way they are structured should be cleaned up. The same street is \
             written down four times for each person, and the copies contradict each other. Two of the four fields can go, \
             and the system we are going to wants a fixed format for each of the others.",
            "In our clients' files the postcode is a number, which eats the leading zero; the machines we are going to \
             would keep it as text. Everything that compares postcodes would have to be gone over. Whoever wrote those \
             programs has left the company.",
            "Each client has a number today, and everything else refers to that number. The two firms we bought used \
             the same numbers for other people, so putting all records together in their new home would mix up \
             strangers. First every person needs a number that nobody else has.",
            "The field for remarks holds everything that found no other place: birthdays, discounts, even passport \
             numbers. On the system we are going to, every kind of information needs a place of its own with fixed \
             rules. Taking those remarks apart is the largest piece of work in the whole relocation.",
        ],
        fresh: [
            "On the new machines the engine treats client numbers as 32-bit integers, whereas ours have leading \
             zeros and are kept as text. Carried over as they are, 18,000 of them would collide. The field has to \
             be declared as a string in the target definition, with a check on its length.",
            "The old register of buyers lets a postal address be empty, yet the definition prepared for the new \
             hosts marks it NOT NULL. About 7 percent of the rows would be rejected during the transfer. Either \
             that rule is loosened or a default value has to be put into the empty fields.",
            "Orders point to the client record through its e-mail address, which is not unique in 412 cases. The \
             engine on the new platform enforces foreign references strictly and refuses such rows. Duplicates \
             must be merged and a proper identifier introduced before anything is carried over.",
            "Nineteen stored procedures and six triggers around the subscriber records are written in the old \
             vendor's SQL dialect. The new hosts run PostgreSQL, where dates, enums and the money field are \
             declared differently. Every one of these definitions has to be rewritten for the transfer.",
            "The attribute 'region' in the client master holds three things at once: country, sales area and tax \
             zone. The design for the new platform splits it into separate fields with an enum each. Four \
             programs that select it by name will break on the day the records are carried over.",
        ],
    },
    SeatPlants {
        seat: "Data/pipeline",
        focus: "How data flows: ingestion, transformation, streaming, nightly jobs, replication and reports fed by them.",
        lexicon: "pipeline, etl, ingestion, stream, streaming, batch, job, transformation, replication, sync, feed, export, import",
        lexical: [
            "Eleven nightly batch jobs read the customer database, and three write to it. On the new cluster the export job \
             takes 50 minutes in place of four hours, but the replication stream to the warehouse has to be set up anew. \
             The pipeline team needs two weeks of this quarter for that.",
            "During the move, replication keeps the present customer database and the new cluster in sync. In the trial the \
             stream fell behind by six hours on Monday, because the ingestion of orders is heavy then. A start on Friday \
             would leave the pipeline enough time.",
            "The ETL pipeline that feeds marketing reads the customer database through a driver that the new cluster does \
             not support. Until the transformation is rewritten, the import would stop, and the campaign reports with it.",
        ],
        paraphrased: [
            "Every night, several programs fetch what happened to our clients' records during the day and pass it on to the \
             figures that the sales people see in the morning. If the records live elsewhere, each of these programs must \
             be told, and two of them cannot be changed because nobody has their source any more.",
            "While the records of our buyers are copied over, people go on changing them. The trial showed that the copy \
             lagged behind by half a day at the start of the week and caught up only on Wednesday. Whoever reads from the \
             copy in the meantime sees yesterday's world.",
            "The evening run that hands our clients' purchases over to the bookkeepers expects to find everything in one \
             place, in a fixed order. The machines we are going to deliver the same things in another order, and the run \
             trips over that. Rewriting it takes a fortnight.",
            "Each hour the web shop sends what was bought to the machine with our clients' records, and from there it \
             goes on to the parcel service. When that machine is replaced by others, the hand-over in the middle has to \
             be rebuilt. If it halts for an hour, parcels stay in the hall.",
            "The figures the board looks at on Mondays are put together over the weekend from our buyers' records. Nine \
             small programs run one after another, each waiting for what the one before has left behind. Were the \
             records to be relocated on a Saturday, the whole chain would come to nothing.",
            "For some weeks, every change to a client's record would have to be written twice, to the old machines and \
             to the other ones, so that neither lags behind. A small program carries the changes across every few \
             seconds. When it stumbled in the trial, four thousand changes arrived in the wrong order.",
        ],
        fresh: [
            "Every night at two a script pulls changed buyer profiles from the old machines and loads them into \
             the warehouse. It reads the vendor's redo log, which does not exist on the new hosts. Without a \
             rewrite the sales dashboards would be stuck at the day of the relocation.",
            "The Kafka connector that publishes each change to a consumer's profile knows only the old engine. \
             After the relocation, eleven downstream consumers such as the newsletter and the fraud scoring would \
             receive no events. A Debezium connector for the successor platform is half finished.",
            "As long as the old and the new machines run side by side, each change to a shopper's record must be \
             mirrored in near real time. In the trial the mirror lagged by 22 minutes at noon. Reports that draw \
             on the copy would show wrong totals until it has caught up with the source.",
            "Marketing's scoring run draws its input from the client master by a full dump at 03:00. On the hosts \
             to which it is to be relocated, that hour is reserved for upkeep, and the dump would be aborted \
             halfway. The Airflow chain after it, with seven steps, has to start at 05:00 instead.",
            "The partner files with new subscribers arrive by SFTP and are cleansed by a Perl program running on \
             the old machine itself. When the records go to the new platform, that program has nowhere to run. \
             The loading and cleansing steps have to be rebuilt in Spark beforehand.",
        ],
    },
    SeatPlants {
        seat: "Data/archive",
        focus: "Old data: retention, backups, restoring, deletion and what must be kept for how long.",
        lexicon: "archive, retention, backup, restore, history, historical, deletion, purge, snapshot, recovery, legal hold, cold storage",
        lexical: [
            "A third of the customer database is history older than ten years, past its retention. Purging it before the \
             move to the new cluster would save 13 TB and four days of copying. Legal hold applies to 2,100 customers, \
             whose records stay in the archive.",
            "Backups of the new cluster are kept for 35 days, those of the present customer database for 90. The restore of \
             a snapshot was tried this quarter and took seven hours, three more than the recovery plan allows.",
            "The archive of closed customer accounts lies in cold storage and refers to the database by row number. If the \
             database moves to the new cluster, these numbers change, and a restore from the archive would no longer find \
             its customer.",
        ],
        paraphrased: [
            "Much of what we hold about our clients is about people who left us long before most of us joined. The law wants \
             us to throw it away after ten years, and we have not. It would be wise to do so before everything is carried \
             to other machines, since it makes up a third of the load.",
            "If something goes wrong with our clients' records today, we can go back to how they were at any evening of the \
             past three months. On the machines we want to go to, it would be one month. Bringing back a lost day took a \
             whole shift in the rehearsal.",
            "The boxes with the files of people who are no longer our clients refer to places in the present system. After \
             the relocation these places are gone, and nobody could find a person's old papers again when a court asks for \
             them.",
            "The tax office may ask for our clients' bills for up to ten years. Those from before 2019 exist only on \
             the old machines, in a form that the other ones cannot read. If we switch the old ones off after the \
             relocation, we could not produce a bill when someone asks for it.",
            "Clients who wish to be forgotten have a right to it, and on the present machines wiping a person out takes \
             one click. On the others, traces would remain in the spare copies for a year. Our lawyers want that sorted \
             out before any record is taken there.",
            "Every Sunday a spare copy of our buyers' records is wrote tape and driven to a vault. Nobody has yet \
             read such a tape on the machines we want to go to. If fire broke out in the first weeks there, we would \
             stand with tapes that nothing can open.",
        ],
        fresh: [
            "Tax law obliges us to keep the files on former patrons for ten years. The plan for the new \
             environment carries over only those who bought something since 2019. The older ones must be put away \
             somewhere safe and readable before the old hosts are scrapped, or we break that duty.",
            "Tape copies of the buyer register are written in the old vendor's format and cannot be read by the \
             engine on the new hosts. If an auditor asks for the state of 2017, nobody could bring it back after \
             the relocation. One old machine ought to be kept for that purpose.",
            "In March 3,100 shoppers had their records erased at their own request. The copy prepared for the new \
             platform was taken in January and still contains every one of them. They have to be erased again as \
             soon as it has been loaded there, and proof of it must be kept for three years.",
            "The safety copies that the new hosts write each night have never been played back in full. On the \
             old machines a drill in May brought all account holders' records back in four hours. No one can say \
             today how long it would take, or what would be lost, after the relocation.",
            "Lawyers have forbidden us to destroy any correspondence with the buyers involved in the Hartmann \
             lawsuit. The successor platform wipes people's profiles automatically after 36 months without \
             activity. That rule must be disabled for these 54 people before their records are transferred.",
        ],
    },
    SeatPlants {
        seat: "Ops/finance",
        focus: "What it costs: budget, licences, contracts, savings and the forecast.",
        lexicon: "cost, budget, price, licence, license, contract, invoice, spend, saving, forecast, fee, expense",
        lexical: [
            "Running the customer database on the new cluster costs 8,400 a month, against 11,900 today, mostly because the \
             licence of the old database ends. The move itself is in the budget with 60,000. Finance expects the saving to \
             pay for it in eighteen months.",
            "The contract for the present database server runs until March. If the customer database moves to the new \
             cluster this quarter, we pay both for four months, an expense of 26,000 that the forecast does not have.",
            "The price of the new cluster depends on the memory in use. With the customer database the invoice would rise by \
             a quarter. The budget has room for that only if the auth migration costs no more than planned.",
        ],
        paraphrased: [
            "Keeping our clients' records on the old machines swallows almost twelve thousand a month, and a good part of it \
             goes to the maker of the software. On the other machines we would pay about a third less. The work of getting \
             there would have earned itself back in a year and a half.",
            "If we relocate the records of our buyers now, we will be paying rent for two homes until spring, since the old \
             one cannot be given up earlier. Nobody has set money aside for that. Waiting four months would be cheaper by \
             some twenty-six thousand.",
            "The bill for the recently installed machines grows with what is put on them. Putting our clients' records there \
             would make it a quarter larger, and the purse for this year is nearly empty. The treasurer would agree if \
             something else were given up.",
            "The maker of the present system has announced that it will charge a fifth more from January. Leaving for \
             the other machines with our clients' records before that date would keep forty thousand a year in our \
             pockets. The helpers from outside who would do the work want half of that once.",
            "We are bound to the firm that looks after the old machines until the end of next year, and it wants to be \
             paid whether we use them or not. Taking our buyers' records elsewhere earlier is money thrown away. \
             Perhaps the firm can be talked into letting us go.",
            "What the relocation of the clients' records will swallow has been guessed three times, and each guess was \
             twice the one before. The board has put aside ninety thousand. Should it become more, the rest must be \
             taken from what was meant for the shops.",
        ],
        fresh: [
            "Running the buyer register in its new home would come to 9,400 euros a month, against 12,100 today. \
             The one-off work for the relocation is put at 85,000 euros, most of it external day rates. The \
             outlay would thus be earned back after a little more than two and a half years.",
            "Our agreement with the old engine's vendor renews by itself on 31 December for another three years \
             at 140,000 euros each. Notice must be given by the end of September. If our buyers' records have not \
             reached the new machines by then, we pay for both platforms.",
            "The board has approved 200,000 euros for relocating the subscriber files, of which 163,000 are \
             already committed to outside consultants. Nothing is set aside for the double running of old and new \
             machines. The controller expects an overrun of about 30,000 euros.",
            "The provider of the new hosts bills outgoing traffic per gigabyte. Given how often our shops would \
             read subscriber records from there, that adds 2,300 euros a month, which the business case left out. \
             The promised economies of the relocation shrink from 2,700 to 400 euros.",
            "The old machines holding our consumers' details still have a book value of 64,000 euros. Taking them \
             out of service before June means writing that sum off in the current fiscal year. Accounting would \
             rather relocate the records afterwards, when depreciation has ended.",
        ],
    },
    SeatPlants {
        seat: "Ops/support",
        focus: "People who are affected: tickets, complaints, training, communication and outages as users feel them.",
        lexicon: "support, ticket, helpdesk, incident, outage, complaint, training, communication, user, maintenance window, service desk",
        lexical: [
            "The helpdesk had 340 tickets about slow answers of the customer database this quarter. Support staff expect \
             fewer complaints on the new cluster, but they need training for its new screens, and a maintenance window of \
             six hours that users are told of two weeks ahead.",
            "When the test database moved to the new cluster, an outage of two hours led to 120 tickets, because the \
             communication to users came too late. For the customer database the service desk wants a status page and \
             double staffing for three days.",
            "Support warns that the auth migration and the move of the customer database in the same month would leave users \
             with two changes at once. After the last such incident, complaints took five weeks to fall to the usual level.",
        ],
        paraphrased: [
            "People on the telephone in our call centre wait up to a minute until a client's record appears, and callers lose \
             their patience. On the other machines it takes two seconds. The staff welcome the change but would like to be \
             shown how it works beforehand, and not in the week before Christmas.",
            "The last time such a thing was done, nobody had told the branch offices, and their phones did not stop ringing \
             for two days. If our clients' records are to be out of reach for six hours, a letter should go out a fortnight \
             before, and someone should be there to calm those who did not read it.",
            "Staff in the shops are afraid of having to learn two things at once: the other way of signing in and the other \
             screens for looking up a client. The people who answer their calls ask us to leave at least a month between \
             the two.",
            "Most of those who call us want to know where their parcel is, and our people look that up in the clients' \
             records. On the evening of the relocation they could not, and would have to put callers off. A notice on \
             the website and a recorded greeting would spare much anger.",
            "The screens on which our sales people look up a client would change along with the machines. In the trial \
             group, older colleagues needed three days until they found everything again. They asked for a short course \
             and for someone they can ring in the first week.",
            "After the warehouse got its new program, callers waited forty minutes on the line, and some never came \
             back. If the clients' records are relocated just before the holidays, the same may happen again. Those who \
             sit at the telephones ask for extra hands, or for another month.",
        ],
        fresh: [
            "When the order files went to the new machines last year, the hotline took 1,900 calls in two days. \
             Most callers could not find their purchases and were angry that nobody had warned them. Before their \
             profiles follow, a letter to account holders has to go out two weeks ahead.",
            "The call centre's agents will see a different lookup screen once the buyer profiles live in the new \
             environment. Only 12 of the 70 have been shown how it works. The team leader asks for three half- \
             days of coaching, as otherwise callers will be kept on hold for longer.",
            "While the records are being carried over to the new machines, shoppers cannot see their profile for \
             about six hours. Those who phone in will want an explanation, and we have no agreed wording for it. \
             A banner on the website and a script for the agents are needed.",
            "Branch staff have been grumbling about frozen screens whenever they look up a buyer on the old \
             machines. Some 240 such reports reached the hotline in October alone. They hope that taking the \
             records to the new hosts will put an end to it and ask to be told the date in good time.",
            "Once their profiles have been transferred to the new platform, everyone will have to sign in anew, \
             and older clients tend to lock themselves out. The hotline reckons with 400 additional calls a day \
             during the first week. With two colleagues on leave, people would wait over twenty minutes on the \
             line.",
        ],
    },
    SeatPlants {
        seat: "Ops/release",
        focus: "How a change is brought in: schedule, tests, rollout, rollback, cutover and who is on duty.",
        lexicon: "release, rollout, rollback, deploy, deployment, schedule, cutover, test, staging, freeze, on-call, deadline, rehearsal",
        lexical: [
            "The cutover of the customer database to the new cluster is scheduled for the last weekend of the quarter, two \
             days before the deployment freeze. A rollback takes nine hours. The rehearsal in staging ended forty minutes \
             late, with all tests green.",
            "The release plan puts the auth migration in week 44 and the move of the customer database in week 45. The \
             on-call team wants at least two weeks between them, because a rollback of the one would undo the other.",
            "Nobody has tested a rollback from the new cluster to the present database after customers have wrote it. \
             Until that rehearsal is done, release management does not agree to a cutover this quarter, whatever the \
             deadline.",
        ],
        paraphrased: [
            "The plan is to switch our clients' records over on the last Saturday of September, when the shops are closed. If \
             it fails, going back takes until Sunday evening, which leaves no slack at all. The dry run overran by forty \
             minutes, though everything worked in the end.",
            "Nobody has tried what happens if we want to return to the old machines after people have already changed our \
             clients' records on the other ones. As long as the way back is unknown, those who would have to walk it at \
             night do not want to set out.",
            "Two large changes stand one week apart in the calendar: the other way of signing in, and the relocation of the \
             records of our buyers. If the first goes wrong, undoing it would undo the second as well. Three engineers who \
             know both are on holiday then.",
            "First the small shops, then the large ones, and the web shop last: in this order the clients' records \
             would be switched to the other machines, a week for each. After every step we look for two days whether \
             all is well. Only then comes the next.",
            "No changes to our systems are allowed between mid November and New Year. If switching the clients' records \
             over is not done by then, it waits until February. The list of what has to happen before that day has \
             thirty entries, and eleven are ticked off.",
            "On the night when our buyers' records are switched to the other machines, two people from each team would \
             have to be awake, and one who may decide to call it off. Up to four in the morning everything can be taken \
             back. After that there is only forward.",
        ],
        fresh: [
            "No changes to live systems are allowed between 15 November and 6 January because of the Christmas \
             trade. That leaves two weekends for taking the buyer register to its new home. If the first try on \
             31 October fails, there is only one more chance before next spring.",
            "The dry run of carrying the subscriber files over to the new rack took eleven hours instead of the \
             planned seven. It was broken off on Sunday when the row counts did not match. A second dry run on \
             the trial system has to succeed before we set a date for going live.",
            "There is no way back once shops have wrote the client records on the new machines for more than \
             an hour. The plan names neither a point of no return nor the person who may stop the switchover. The \
             change board will not give its go-ahead for the weekend without both.",
            "We propose to bring people's profiles over in waves: first the staff accounts, then Austria, then \
             everyone else. Between the waves we watch the successor platform for three days. If errors go above \
             one percent, that wave is reverted and served from the old machines again.",
            "On the weekend chosen for switching our account holders' records over to the new hosts, both \
             engineers who know them best are away. The duty roster shows only a trainee for Sunday night. Either \
             the date is pushed back by a week or someone senior has to swap shifts.",
        ],
    },
];
